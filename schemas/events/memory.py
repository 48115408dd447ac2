"""What is learned: reflections, summaries, participants with their facts."""

from __future__ import annotations

from datetime import date, datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData, Value
from schemas.events.replies import FactProposal, TokenUsage

Trust = Literal["human", "authenticated", "inferred", "ours"]
ParticipantState = Literal["unknown", "prospect", "customer", "vip", "at_risk", "churned", "returning"]


class RelationProposal(Value):
    """An edge of the graph that the model proposed."""

    op: Literal["insert", "update", "delete"] = "insert"
    subject: str
    predicate: str
    object: str
    quote: str = ""


class MailSignals(Value):
    """What a mail shows of its author's mood and purpose."""

    sentiment: float | None = Field(0.0, description="-1 to 1; null: not known, which moves no mood")
    frustrated: bool | None = Field(False, description="null: not known, which neither goes on nor ends a row")
    frustrated_mails: int = Field(0, description="how many of the turn's newest mails in a row are; 0: all, if it is")
    intent: str = "other"
    issue_key: str = ""
    issue_resolved: bool = False
    tags: tuple[str, ...] = ()


class TurnReflected(Effect):
    """The one structured answer about a turn: summary, facts, graph, signals and brief are applied from it.

    Where its reply waits a turn is learned from before it ends: `outcome` is `drafted` then, and a second event says
    how it ended (`again`).
    """

    TYPE: ClassVar[str] = "turn.reflected.v1"
    TOPIC: ClassVar[str] = "turn-reflected"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"facts", "relations", "brief"})

    turn_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    outcome: str
    summary: str
    covers_to: int = Field(description="the thread's version up to which the summary covers the conversation")
    facts: tuple[FactProposal, ...] = ()
    relations: tuple[RelationProposal, ...] = ()
    signals: MailSignals = MailSignals()
    participant_state: str = ""
    participant_state_reason: str = ""
    brief: str = ""
    brief_bases: tuple[str, ...] = Field((), description="the briefs that its author was shown, by hash")
    refused: tuple[str, ...] = Field((), description="parts of the answer that did not hold, and why")
    retry_at: datetime | None = Field(None, description="nothing of it held: when the model is asked again")
    again: bool = Field(False, description="says only how a turn ended that was learned from before")
    model: str = ""
    usage: TokenUsage = TokenUsage()


class ThreadSummarized(EventData):
    """The rolling summary of what one person and we have said in a thread, at most 200 words."""

    TYPE: ClassVar[str] = "thread.summarized.v1"
    TOPIC: ClassVar[str] = "thread-summarized"
    AGGREGATE: ClassVar[str] = "summary"

    thread_id: UUID
    participant_id: UUID | None = None
    text: str
    words: int
    covers_to: int
    turn_id: UUID
    trusted: bool = Field(True, description="whether it is certain that it was they who wrote")

    def aggregate_id(self) -> UUID:
        """The thread whose summary it is."""
        return self.thread_id


class ParticipantEvent(EventData):
    """An event of the participant aggregate."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "participant-events"
    AGGREGATE: ClassVar[str] = "participant"

    participant_id: UUID

    def aggregate_id(self) -> UUID:
        """The participant."""
        return self.participant_id


class ParticipantSeen(ParticipantEvent):
    """A person wrote to us under this address: for the first time, under a new name, or not since a day or longer."""

    TYPE: ClassVar[str] = "participant.seen.v1"

    addr: str
    name: str = ""
    space: str = Field("", description="which memory they are known in; empty: what inboxes without their own share")
    seen_at: datetime | None = Field(None, description="when imported mail was written; else the event's time")


class FactRecorded(ParticipantEvent):
    """A fact now holds, with the words it rests on. `supersedes` names the facts it replaces."""

    TYPE: ClassVar[str] = "fact.recorded.v1"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"value", "text", "quote"})

    fact_id: UUID
    kind: str
    key: str
    value: str
    text: str
    single_valued: bool
    confidence: float = Field(ge=0, le=1)
    importance: float = Field(ge=0, le=1)
    trust: Trust
    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    source_mail: UUID | None = None
    source_thread: UUID | None = None
    source_message_id: str = ""
    quote: str = ""
    span_start: int | None = None
    span_end: int | None = None
    supersedes: tuple[UUID, ...] = ()
    rule: str = Field("", description="the policy that decided, in words")
    source_reply: UUID | None = Field(None, description="our own mail that says so, for facts that we may source")
    past: bool = Field(False, description="recorded as history: something newer was known already")
    superseded_by: UUID | None = Field(None, description="of a past fact: what followed it")
    corrects: bool = Field(False, description="what it supersedes was never so, instead of being so no longer")
    parents: tuple[UUID, ...] = Field((), description="the facts that it was derived from")


class FactCorroborated(ParticipantEvent):
    """Another message says the same; confidence is computed from what now supports the fact."""

    TYPE: ClassVar[str] = "fact.corroborated.v1"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"quote"})

    fact_id: UUID
    confidence: float
    source_mail: UUID | None = None
    source_thread: UUID | None = None
    trust: Trust
    quote: str = ""
    said_at: datetime | None = Field(None, description="valid time of the message that says so too")
    valid_from: datetime | None = Field(None, description="set where that message is older than all we knew of it")
    rejudged: bool = Field(False, description="the fact was stale, and is believed again")
    span_start: int | None = Field(None, description="where the quote stands in its mail, in characters")
    span_end: int | None = Field(None, description="where it ends, exclusive")


class FactRetracted(ParticipantEvent):
    """A fact no longer holds, and nothing replaces it."""

    TYPE: ClassVar[str] = "fact.retracted.v1"

    fact_id: UUID
    reason: str
    source_mail: UUID | None = None
    valid_to: datetime | None = Field(None, description="until when it was so; none: we believe that it never was")


class FactRestored(ParticipantEvent):
    """A fact is believed again: what had replaced it was taken back by a person."""

    TYPE: ClassVar[str] = "fact.restored.v1"

    fact_id: UUID
    reason: str


class FactMarkedStale(ParticipantEvent):
    """A fact that this one was derived from changed: it counts for less until somebody says it again."""

    TYPE: ClassVar[str] = "fact.marked_stale.v1"

    fact_id: UUID
    parent_id: UUID
    reason: str


class FactsMerged(ParticipantEvent):
    """Facts that say the same in other words are shown as one; the members are kept, and it can be undone."""

    TYPE: ClassVar[str] = "fact.merged.v1"

    fact_id: UUID = Field(description="the fact that stays")
    members: tuple[UUID, ...]
    confidence: float = Field(ge=0, le=1)
    reason: str


class FactsUnmerged(ParticipantEvent):
    """A merge was undone: the members stand for themselves again."""

    TYPE: ClassVar[str] = "fact.unmerged.v1"

    fact_id: UUID
    members: tuple[UUID, ...]
    confidence: float = Field(ge=0, le=1)
    by: str


class FactPinned(ParticipantEvent):
    """A person pinned a fact, or let it go again: pinned facts do not decay."""

    TYPE: ClassVar[str] = "fact.pinned.v1"

    fact_id: UUID
    pinned: bool
    by: str


class FactRefused(ParticipantEvent):
    """A proposed memory operation did not hold: no such quote, an untrusted sender, a weaker source."""

    TYPE: ClassVar[str] = "fact.refused.v1"
    SHARES_CAUSE: ClassVar[bool] = True
    LEARNED: ClassVar[frozenset[str]] = frozenset({"value"})

    op: str
    kind: str
    key: str
    reason: str
    value: str = ""


class ParticipantStateChanged(ParticipantEvent):
    """The participant made one step of the lifecycle."""

    TYPE: ClassVar[str] = "participant.state_changed.v1"

    from_state: ParticipantState
    to_state: ParticipantState
    trigger: Literal["ai", "human", "system"]
    reason: str
    said_at: datetime | None = Field(None, description="when imported mail was written; else the event's time")


class ParticipantTransitionRefused(ParticipantEvent):
    """Somebody asked for a step that the lifecycle does not have, or that came too late."""

    TYPE: ClassVar[str] = "participant.transition_refused.v1"

    from_state: ParticipantState
    to_state: str
    trigger: Literal["ai", "human", "system"]
    reason: str
    refused_because: str


class SignalsNoted(ParticipantEvent):
    """Sentiment, frustration in a row, risk, issues and tags after one more turn: the new values."""

    TYPE: ClassVar[str] = "participant.signals_noted.v1"

    thread_id: UUID
    sentiment: float
    frustrated_in_row: int
    risk: Literal["low", "medium", "high"]
    intent: str = "other"
    issue_key: str = ""
    issue_repeats: int = 0
    issue_resolved: bool = False
    tags: tuple[str, ...] = ()
    confirms_state: bool = Field(False, description="the mail shows them to be in the state that they are in")
    sentiment_before: float | None = Field(None, description="the mood before a turn that tells of one")
    said_at: datetime | None = Field(None, description="when imported mail was written; else the event's time")

    def shared_in(self) -> UUID | None:
        """Of the participant's own mails."""
        return None


class IssuesResolved(ParticipantEvent):
    """The troubles that the participant reported in a thread are over, or the one that is named."""

    TYPE: ClassVar[str] = "participant.issues_resolved.v1"

    thread_id: UUID
    issue_key: str = Field("", description="the one trouble that is over; empty: all of the thread")

    def shared_in(self) -> UUID | None:
        """Of the participant alone."""
        return None


class BriefWritten(ParticipantEvent):
    """The relationship brief was curated, or a person wrote or deleted it (then it is empty)."""

    TYPE: ClassVar[str] = "participant.brief_written.v1"
    SHARES_CAUSE: ClassVar[bool] = True
    LEARNED: ClassVar[frozenset[str]] = frozenset({"text"})

    text: str
    by: str = Field("", description="the person who wrote or deleted it; empty: the agent, or a rule")
    bases: tuple[str, ...] = Field((), description="what it was written from: hashes (SHA-256) of the briefs' texts")
    keeps: tuple[str, ...] = Field((), description="which of the briefs beside it stay, by hash; the others go")


class BriefDiverged(ParticipantEvent):
    """A brief was written from one that another turn or a person had overtaken: kept beside it, to be merged."""

    TYPE: ClassVar[str] = "participant.brief_diverged.v1"
    SHARES_CAUSE: ClassVar[bool] = True
    LEARNED: ClassVar[frozenset[str]] = frozenset({"text"})

    text: str
    bases: tuple[str, ...] = Field((), description="what it was written from: hashes (SHA-256) of the briefs' texts")
    keeps: tuple[str, ...] = Field((), description="which of the briefs beside it stay, by hash; the others go")


class BriefRequested(EventData):
    """A person writes or deletes the brief by API or command line; learn_facts decides."""

    TYPE: ClassVar[str] = "participant.brief_requested.v1"
    TOPIC: ClassVar[str] = "participant-events"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"text"})

    participant_id: UUID
    op: Literal["edit", "delete"]
    text: str = ""
    base: str = Field("", description="the version that the person saw, by hash; empty: whichever holds")
    by: str


class SessionNoted(ParticipantEvent):
    """What the last 24 hours with this participant were about."""

    TYPE: ClassVar[str] = "participant.session_noted.v1"

    thread_id: UUID
    summary: str
    expires_at: datetime
    entities: tuple[str, ...] = Field((), description="names and things, the latest first")
    actions: tuple[str, ...] = Field((), description="what was done, each with its time, the latest first")


class RelationRecorded(ParticipantEvent):
    """An edge of the graph: inserted, updated or deleted."""

    TYPE: ClassVar[str] = "relation.recorded.v1"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"subject", "object", "quote"})

    relation_id: UUID
    op: Literal["insert", "update", "delete"]
    subject: str
    predicate: str
    object: str
    quote: str = ""
    confidence: float = 0.5
    source_mail: UUID | None = None


class ParticipantErased(EventData):
    """A person was erased: the keys of all that is about them are destroyed. Says nothing of the person but the id."""

    TYPE: ClassVar[str] = "participant.erased.v1"
    TOPIC: ClassVar[str] = "participant-events"

    participant_id: UUID
    by: str
    threads: tuple[UUID, ...] = Field((), description="threads in which others go on")
    events: int = Field(0, description="how many events can no longer be read")

    def subject_id(self) -> UUID | None:
        """Nobody: it must stay readable."""
        return None


class FactRequested(EventData):
    """A person adds, corrects, pins or deletes a fact by API, console or command line; learn_facts decides."""

    TYPE: ClassVar[str] = "fact.requested.v1"
    TOPIC: ClassVar[str] = "participant-events"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"value", "text"})

    participant_id: UUID
    op: Literal["add", "correct", "pin", "unpin", "forget", "unmerge"]
    fact_id: UUID | None = None
    kind: str = Field("", description="empty: that of the current fact of this key, else a note")
    key: str = ""
    value: str = ""
    text: str = ""
    valid_to: date | None = None
    by: str
    parents: tuple[UUID, ...] = Field((), description="the facts that an added one is derived from")
