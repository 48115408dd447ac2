"""From the loaded memory to the sent reply."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import Field, field_validator

from schemas.events.base import Effect, EventData, Value
from schemas.events.threads import ThreadState

AfterReply = Literal["", "keep", "resolve", "hand_back"]  # what becomes of a thread once a person's reply left
ApprovalLevel = Literal["auto", "review", "human_only"]
RiskTopic = Literal["money", "law", "health", "contract", "anger", "threat", "press"]
Floor = Literal[
    "unsupported",
    "sender",
    "first_contact",
    "stranger",
    "money",
    "law",
    "health",
    "contract",
    "anger",
    "threat",
    "press",
]  # what alone makes a person look, whatever the score: a claim without support, who writes, or a topic of risk


# Why a draft was discarded that a newer turn of things overtook (`ReplyDiscarded.reason`).
HUMAN_ANSWERED = "human_answered"  # a person answered in its place
TURN_OVER = "the turn is no longer open"
ESCALATED = "the thread was escalated to a human"
COLLEAGUE_ANSWERED = "a colleague answered"
UNSUBSCRIBED = "they have unsubscribed from such mail"
LEFT_ALONE = "they are at risk, lost or with a person by now"
NEWER_MAIL = "a newer mail came"


class ContextLayer(Value):
    """One layer of the assembled context, as the model was given it."""

    name: str
    text: str
    items: tuple[dict[str, Any], ...] = ()
    shared: bool = False
    trusted: bool = True
    tokens: int = 0
    left_out: int = Field(0, description="how many entries the budget kept out")
    about: str = Field("", description="what the layer is, as the model is told; empty: it was not")


class ChosenSetting(Value):
    """A value in force, and where it was said: a turn's behaviour, participant, inbox, workspace or default."""

    value: str | int | float | bool
    source: str

    @field_validator("source")
    @classmethod
    def _inbox(cls, source: str) -> str:
        """Older events say `mailbox` where an inbox is meant."""
        level, _, name = source.partition(" ")
        return f"inbox {name}".rstrip() if level == "mailbox" else source


class MemoryLoaded(EventData):
    """The whole context for one turn: a reply can be explained, and made again, from this event alone."""

    TYPE: ClassVar[str] = "memory.loaded.v1"
    TOPIC: ClassVar[str] = "memory-loaded"
    WORDS: ClassVar[frozenset[str]] = frozenset({"layers"})
    LEARNED: ClassVar[frozenset[str]] = frozenset({"layers"})

    turn_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    layers: tuple[ContextLayer, ...]
    purpose: Literal["reply", "suggestion"] = Field("reply", description="suggestion: a person has the thread")
    settings: dict[str, ChosenSetting] = Field(
        default_factory=dict, description="what shapes the reply, by name, each with where it was said"
    )
    by: str = Field("", description="the person who asked for a suggestion")
    settings_version: int = Field(0, description="of the stored settings that shaped it; 0: nobody had changed any")

    def without_words(self) -> Self:
        """Which layers there were stays, and what each cost."""
        layers = tuple(one.model_copy(update={"text": "", "items": ()}) for one in self.layers)
        return self.model_copy(update={"layers": layers})

    def without_learned(self) -> Self:
        """What is remembered of somebody stands among what they wrote."""
        return self.without_words()

    def setting(self, name: str, otherwise: Any) -> Any:
        """The value in force of what shapes the reply; `otherwise` for an event of before there were any."""
        return self.settings[name].value if name in self.settings else otherwise


class FactProposal(Value):
    """A memory operation that the model proposed; learn_facts decides whether it holds."""

    op: Literal["add", "update", "delete"]
    fact_id: str = ""
    kind: str = "note"
    key: str
    value: str = ""
    text: str = ""
    quote: str = ""
    importance: int = 5
    valid_to: date | None = Field(None, description="the last day on which it is true")
    mail_id: UUID | None = Field(None, description="the mail that holds the quote; learn_facts looks for it if None")
    derived_from: tuple[str, ...] = Field((), description="ids of the stored facts that it was concluded from")


class AgentAct(Value):
    """Something that the agent did while it wrote, besides writing: what, and on what; no words of anybody."""

    action: str
    detail: str = ""


MOST_ENTITIES = 20  # that are kept of a person in a thread


class Entity(Value):
    """Something that the agent keeps in mind while a matter lasts, under a name; an empty value takes it away."""

    name: str
    value: str = ""


class TokenUsage(Value):
    """What the model calls of one act cost, in tokens."""

    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class ScorePart(Value):
    """One part of a draft's score, from 0 (a person should look) to 1, and its share of the whole."""

    name: str
    value: float
    weight: float


class DraftScore(Value):
    """How well a draft rests on what its model was shown, by code: its parts, and what no part makes up for."""

    value: float
    parts: tuple[ScorePart, ...] = ()
    floors: tuple[Floor, ...] = ()


class ReplyDrafted(Effect):
    """The model decided: a reply, no reply, or a human. What it asked to remember rides along."""

    TYPE: ClassVar[str] = "reply.drafted.v1"
    TOPIC: ClassVar[str] = "reply-drafted"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"inbox", "decision", "trusted"})
    WORDS: ClassVar[frozenset[str]] = frozenset({"text", "unsupported", "entities"})
    LEARNED: ClassVar[frozenset[str]] = frozenset({"facts", "acts"})

    reply_id: UUID
    turn_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    decision: Literal["reply", "no_reply", "escalate"]
    text: str = ""
    reason: str = ""
    state: ThreadState = "awaiting_reply"
    goals_add: tuple[str, ...] = ()
    goals_close: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    facts_cited: tuple[UUID, ...] = Field((), description="facts of its context that the reply rests on")
    attach: tuple[str, ...] = Field((), description="passages whose document's file goes along")
    facts: tuple[FactProposal, ...] = ()
    participant_state: str = ""
    participant_state_reason: str = ""
    refused_calls: tuple[str, ...] = Field((), description="tool calls that the code refused, and why")
    acts: tuple[AgentAct, ...] = Field((), description="what it did meanwhile, for the thread's log")
    model: str = ""
    usage: TokenUsage = TokenUsage()
    approval: Literal["", "auto", "review", "human_only"] = Field(
        "", description="what the cascade said; empty: the deployment's setting"
    )
    disclose_ai: bool | None = Field(None, description="likewise; None: the deployment's setting")
    intent: str = Field("", description="of the mail, as the model named it; empty: drafted by an earlier release")
    score: DraftScore | None = Field(None, description="None: no model wrote it, or an earlier release did")
    unsupported: tuple[str, ...] = Field((), description="what the text claims and its context does not say")
    entities: tuple[Entity, ...] = Field((), description="what it keeps in mind for this thread's next turns")
    proactive: bool = Field(False, description="no mail asked for it: a person approves it, whatever the level")
    settings_version: int = Field(0, description="of the stored settings that it was written under")
    unsubscribe: bool = Field(False, description="it says how to get no more of its kind, and leaves in office hours")


class DeliveryEvent(EventData):
    """An event of the delivery aggregate: the ledger of one reply."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "deliveries"
    AGGREGATE: ClassVar[str] = "delivery"

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    participant_id: UUID | None = None

    def aggregate_id(self) -> UUID:
        """The reply."""
        return self.reply_id


class ReplyApproved(DeliveryEvent, Effect):
    """The reply may go: its MIME is frozen and will not change on any attempt."""

    TYPE: ClassVar[str] = "reply.approved.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    inbox: str
    message_id: str
    blob: str = Field(description="sha256 of the frozen MIME in the blob store")
    recipient: str
    cc: tuple[str, ...] = Field((), description="the customer's colleagues who get a copy")
    files: tuple[str, ...] = Field((), description="blobs of what a person attached; the MIME holds them too")
    envelope_from: str
    text: str
    decision: Literal["reply", "escalate"] = "reply"
    state: ThreadState = "awaiting_reply"
    goals_add: tuple[str, ...] = ()
    goals_close: tuple[str, ...] = ()
    reason: str = ""
    approved_by: str = "policy"
    citations: tuple[str, ...] = ()
    by: str = Field("", description="the person who wrote it themselves; empty: the agent drafted it")
    then: AfterReply = Field("", description="what a person wants to become of the thread")
    intent: str = Field("", description="as on the draft; empty: nothing is learned from this approval")
    score: DraftScore | None = Field(None, description="likewise")
    model: str = Field("", description="that wrote the draft; empty: a person or a fixed text, or an earlier release")
    earned: bool = Field(False, description="no person saw it: approvals of its intent were earned")
    edited: float = Field(0, description="share of its words that the person changed, from 0 to 1")

    def copied_to(self) -> tuple[str, ...]:
        """Whom the reply goes to beside its recipient."""
        return self.cc


class ReplyHeld(DeliveryEvent, Effect):
    """The reply waits for a person: its approval level is `review` or `human_only`."""

    TYPE: ClassVar[str] = "reply.held.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text", "shown", "file_names", "unsupported"})

    inbox: str
    text: str
    shown: str = Field("", description="the whole plain text as it would leave: what a person approves")
    cc: tuple[str, ...] = Field((), description="the customer's colleagues who would get a copy")
    file_names: tuple[str, ...] = Field((), description="of the files that would go along")
    band: Literal["review", "human_only"] = Field(description="the approval level")
    reason: str
    intent: str = ""
    score: DraftScore | None = None
    model: str = Field("", description="that wrote it; empty: a fixed text, or an earlier release")
    unsupported: tuple[str, ...] = Field((), description="what it claims and its context does not say")

    def copied_to(self) -> tuple[str, ...]:
        """Whom the reply would go to beside its recipient."""
        return self.cc


class SentFile(Value):
    """A file that goes out with a reply."""

    filename: str
    content_type: str
    size: int
    blob: str = ""


class DraftDecided(EventData):
    """A person approves or rejects a held draft; send_email decides whether that still holds."""

    TYPE: ClassVar[str] = "draft.decided.v1"
    TOPIC: ClassVar[str] = "deliveries"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    reply_id: UUID
    thread_id: UUID
    approve: bool
    text_sha256: str = Field(description="hash of the text that the person saw: approval is bound to it")
    thread_version: int | None = Field(None, description="the thread's version when the person looked, where known")
    text: str = Field("", description="the person's own wording, where they changed the draft")
    files: tuple[SentFile, ...] = Field((), description="what the person attached")
    reason: str = ""
    by: str


class ReplySending(DeliveryEvent, Effect):
    """The intent, recorded before DATA: from here on the outcome may be unknown, never a repeat."""

    TYPE: ClassVar[str] = "reply.sending.v1"

    attempt: int
    departs_at: datetime | None = Field(None, description="by the wall clock, which the rate per inbox is kept by")


class ReplySent(DeliveryEvent, Effect):
    """The SMTP server accepted the mail."""

    TYPE: ClassVar[str] = "reply.sent.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    attempt: int
    response: str = ""
    text: str
    decision: Literal["reply", "escalate"] = "reply"
    state: ThreadState = "awaiting_reply"
    goals_add: tuple[str, ...] = ()
    goals_close: tuple[str, ...] = ()
    reason: str = ""
    citations: tuple[str, ...] = Field((), description="ids of the passages that it rests on")
    by: str = Field("", description="the person who wrote it themselves; empty: the agent drafted it")
    then: AfterReply = Field("", description="what a person wants to become of the thread")


class ReplyDeferred(DeliveryEvent, Effect):
    """The server or the network said "not now" before DATA, or the inbox is over its rate; a timer tries again."""

    TYPE: ClassVar[str] = "reply.deferred.v1"

    attempt: int
    error: str
    retry_at: datetime
    departs_at: datetime | None = Field(None, description="the moment kept for it by the rate per inbox")


class ReplyUnknown(DeliveryEvent, Effect):
    """The connection was lost between DATA and its answer: shown to a human, never blindly repeated."""

    TYPE: ClassVar[str] = "reply.unknown.v1"

    attempt: int
    error: str


class DeliverySettled(EventData):
    """A person says whether an unknown reply was sent; send_email decides whether that is still a question."""

    TYPE: ClassVar[str] = "delivery.settled.v1"
    TOPIC: ClassVar[str] = "deliveries"

    reply_id: UUID
    thread_id: UUID
    sent: bool
    reason: str = ""
    by: str


class ReplyFailed(DeliveryEvent, Effect):
    """The server refused for good, five days of attempts are over, or no such mail may be written at all."""

    TYPE: ClassVar[str] = "reply.failed.v1"

    attempt: int
    error: str
    inbox: str = Field("", description="set where it failed before any attempt: it was refused when it was written")


class ReplyDiscarded(DeliveryEvent, Effect):
    """The draft will not go: a newer mail, a human's reply or an escalation overtook it."""

    TYPE: ClassVar[str] = "reply.discarded.v1"

    reason: str
    overtaken: bool = Field(False, description="a newer mail or a human was faster; False: a person rejected it")


class ReplyBounced(DeliveryEvent):
    """The mail came back after it had been accepted."""

    TYPE: ClassVar[str] = "reply.bounced.v1"

    mail_id: UUID
    kind: str
    recipient: str
    status: str = ""
    diagnostic: str = ""
    suppressed: bool = False
    of_copy: bool = Field(False, description="a colleague's copy came back; the reply itself arrived")


class SuppressionLiftRequested(EventData):
    """A person says that an address may be written to again; send_email decides whether that is still a question."""

    TYPE: ClassVar[str] = "suppression.lift_requested.v1"
    TOPIC: ClassVar[str] = "deliveries"

    reply_id: UUID = Field(description="the reply whose bounce or complaint suppressed the address")
    thread_id: UUID
    reason: str = ""
    by: str


class SuppressionLifted(DeliveryEvent):
    """The address that this reply went to may be written to again, until it bounces or complains once more."""

    TYPE: ClassVar[str] = "suppression.lifted.v1"

    recipient: str
    reason: str = ""
    by: str


class ReplyCopied(DeliveryEvent, Effect):
    """A copy of the sent reply lies in the inbox's Sent folder."""

    TYPE: ClassVar[str] = "reply.copied.v1"

    attempt: int


class ReplyNotCopied(DeliveryEvent, Effect):
    """The Sent folder could not take the copy; the reply itself was sent and is not touched."""

    TYPE: ClassVar[str] = "reply.not_copied.v1"

    attempt: int
    error: str
    retry_at: datetime | None = Field(description="when it is tried again; None: given up, and shown")
    tried_at: datetime | None = Field(None, description="by the wall clock; None: the folder was known to be away")
