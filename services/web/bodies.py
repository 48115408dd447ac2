"""What the API takes: the bodies of requests, and what a request became."""

from __future__ import annotations

import base64
import binascii
from datetime import date
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from schemas import webhook_payloads
from schemas.events.marks import GoalText, Priority, Tag
from schemas.events.memory import ParticipantState
from schemas.events.replies import AfterReply
from schemas.events.threads import ThreadState
from schemas.model_output import BRIEF_CHARACTERS, CONTROL, FIRST_DAY, LAST_DAY, Key, Kind, Line, OptionalLine
from services.operations import thumbs
from services.operations.investigations.requests import LONGEST_QUESTION
from services.operations.threads.answers import LONGEST_HOLD_S, LONGEST_REPLY, LONGEST_REWORDED, MOST_FILES
from services.operations.threads.inbox import View
from services.operations.webhooks.endpoints import LONGEST_DESCRIPTION, LONGEST_URL
from services.web.caller import name_of_caller, spoken_by

By = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$"),
    AfterValidator(spoken_by),
]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
LastDay = Annotated[date | None, Field(ge=FIRST_DAY, le=LAST_DAY)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=20)]
Goals = Annotated[tuple[GoalText, ...], Field(max_length=8)]


Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=8, max_length=LONGEST_URL)]
WebhookKinds = Annotated[tuple[webhook_payloads.Kind, ...], Field(max_length=len(webhook_payloads.KINDS))]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_DESCRIPTION)]


Version = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
NO_CONTROL = CONTROL.replace("[", "[^", 1)


def _decoded(text: object) -> bytes:
    if not isinstance(text, str):
        raise ValueError("base64 text is wanted")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("this is not base64") from None


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NewInvestigation(_Body):
    """What is to be found out about the customer of a thread."""

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUESTION)]
    by: By = Field(default_factory=name_of_caller)


class ProposalDecision(_Body):
    """Whether what an investigation proposes is to be remembered."""

    accept: bool
    by: By = Field(default_factory=name_of_caller)


class NewFact(_Body):
    """A fact that a person adds."""

    kind: Kind | Literal[""] = Field("", description="by default that of the current fact of this key, else `note`")
    key: Key = Field(description="what the value is of, such as `plan`")
    value: Line
    text: OptionalLine = Field("", description="the fact as a sentence; by default `key: value`")
    valid_to: LastDay = Field(None, description="the last day on which it is so")
    parents: tuple[UUID, ...] = Field((), max_length=20, description="the facts that it was derived from")
    by: By = Field(default_factory=name_of_caller)


class Correction(_Body):
    """The right value of a fact that was wrong; its end, its pin and what it follows from stay as they were."""

    value: Line
    text: OptionalLine = Field("", description="the right sentence; by default the old one with the new value")
    valid_to: LastDay = Field(None, description="the last day on which it is so, where that was wrong too")
    by: By = Field(default_factory=name_of_caller)


def _lines(text: object) -> object:
    return text.replace("\r\n", "\n") if isinstance(text, str) else text


class Restoring(_Body):
    """A moment that has passed, to which facts are brought back."""

    at: AwareDatetime
    by: By = Field(default_factory=name_of_caller)


class RestoreConfirmed(_Body):
    """A person's yes to a restore of a whole workspace, bound to what they saw of it."""

    people: int = Field(ge=1, lt=2**31, description="`changed`, as the restore gave it")
    by: By = Field(default_factory=name_of_caller)


class NewBrief(_Body):
    """What a person writes in the place of a brief, and of all that was to be merged into it."""

    text: Annotated[
        str,
        BeforeValidator(_lines),
        StringConstraints(strip_whitespace=True, min_length=1, max_length=BRIEF_CHARACTERS, pattern=f"^{NO_CONTROL}*$"),
    ] = Field(description="at most learning.brief_words words")
    base: Version = Field("", description="the version that you saw; refused where it was written again since")
    by: By = Field(default_factory=name_of_caller)


class OtherSelf(_Body):
    """Another participant who is the same person."""

    into: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=320)] = Field(
        description="an address that has written to us, or a participant's id"
    )
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class Outcome(BaseModel):
    """What became of a request; `pending` where learn_facts has not come to it yet."""

    request_id: UUID
    status: Literal["done", "pending"]
    decision: str = ""
    fact_id: UUID | None = None
    reason: str = ""


FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
FieldValue = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=r"^[^\x00\r\n]*$")
]


class ProfileChange(_Body):
    """Fields of a profile to set and to remove."""

    fields: Annotated[dict[FieldName, FieldValue], Field(max_length=40)] = Field(default_factory=dict)
    remove: Annotated[tuple[FieldName, ...], Field(max_length=40)] = ()
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not (self.fields or self.remove):
            raise ValueError("say fields to set, or fields to remove")
        return self


class StepCommand(_Body):
    """One step of a thread's state machine."""

    to: ThreadState
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class LifecycleCommand(_Body):
    """A step of the lifecycle that a participant is to make."""

    to: ParticipantState
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class Stepped(BaseModel):
    """A step that was made."""

    from_state: ThreadState
    to_state: ThreadState


class Marks(_Body):
    """What is to be on a thread; what is left out stays as it is."""

    priority: Priority | None = None
    add_tags: Tags = ()
    remove_tags: Tags = ()
    add_goals: Goals = ()
    close_goals: Goals = ()
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not any((self.priority, self.add_tags, self.remove_tags, self.add_goals, self.close_goals)):
            raise ValueError("ask for a priority, for tags to add or to remove, or for goals to add or to close")
        return self


class NewNote(_Body):
    """A note for people; it is never sent."""

    text: Words
    by: By = Field(default_factory=name_of_caller)


class Attachment(_Body):
    """A file that goes out with a reply; its name says what it is."""

    filename: Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f/\\]{1,200}$")]
    content: Annotated[bytes, BeforeValidator(_decoded)] = Field(
        repr=False, json_schema_extra={"type": "string", "format": "byte"}, description="its bytes in base64"
    )


class Approval(_Body):
    """A person's yes to a draft, bound to what they saw of it: its text, and its thread as it was."""

    text_sha256: str = Field(pattern="^[0-9a-f]{64}$", description="of the text that you saw, as the draft gives it")
    thread_version: int = Field(ge=0, description="of the thread that you saw, as the draft gives it")
    text: Words | None = Field(None, description="your own wording, sent instead")
    files: tuple[Attachment, ...] = Field(
        (), max_length=MOST_FILES, description="sent along, together at most send.max_files_mb"
    )
    by: By = Field(default_factory=name_of_caller)


ClientId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,100}$")]
Copy = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=3, max_length=320, pattern=r"^[^\x00-\x1f\x7f]*$")
]


class OwnWords(_Body):
    """A reply that a person wrote, bound to the thread as they saw it."""

    id: ClientId = Field(description="your own name for this reply: the same again is the same reply")
    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_REPLY)]
    thread_version: int = Field(ge=0, lt=2**31, description="`version` of the thread that you saw")
    anyway: bool = Field(False, description="send it although somebody wrote since")
    mail_id: UUID | None = Field(None, description="the mail whose author gets it; by default the newest")
    cc: tuple[Copy, ...] | None = Field(
        None, max_length=20, description="who gets a copy, at most layout.most_copies; by default as the inbox has it"
    )
    files: tuple[Attachment, ...] = Field(
        (), max_length=MOST_FILES, description="sent along, together at most send.max_files_mb"
    )
    with_quote: bool | None = Field(None, description="quote the mail that is answered; by default as the inbox has it")
    then: AfterReply = Field(
        "", description="what becomes of the thread once it left; by default you keep what you have"
    )
    hold_s: float = Field(0.0, ge=0, le=LONGEST_HOLD_S, description="how long it waits, so that it can be taken back")
    by: By = Field(default_factory=name_of_caller)


class SuggestionRequest(_Body):
    """What the agent is asked for a person; nothing of it is sent."""

    words: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_REWORDED)] = Field(
        "", description="your own words, to be worded better; by default the agent writes what it would answer"
    )
    by: By = Field(default_factory=name_of_caller)


class Assignment(_Body):
    """Who is to have a thread."""

    assignee: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")
    ] = Field(description="a name; empty for nobody")
    take_over: bool = Field(False, description="the agent writes nothing in it until it is handed back")
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)

    @model_validator(mode="after")
    def _somebody_takes_it(self) -> Self:
        if self.take_over and not self.assignee:
            raise ValueError("a thread is taken over by somebody: name them as assignee")
        return self


InboxName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
OnePriority = Priority | Literal[""]
TagTyped = Annotated[str, StringConstraints(max_length=50, pattern=r"^[^\x00-\x1f\x7f]*$")]


class ViewToSave(_Body):
    """A view of the inbox under a name."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]
    view: View
    inbox: InboxName = ""
    priority: OnePriority = ""
    tag: TagTyped = ""


class Snooze(_Body):
    """Until when a thread is put off."""

    until: AwareDatetime | None = Field(description="a moment of the coming year; null: on the list again")
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class Rejection(_Body):
    """A person's no to a draft; its turn ends as rejected."""

    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class NewTrial(_Body):
    """What would be other: the text of a layer of our own words, by its name; "" leaves it out."""

    changed: dict[Annotated[str, StringConstraints(max_length=40)], str] = Field(default_factory=dict, max_length=10)


class NewThumb(_Body):
    """What somebody in the team thinks of a reply that left; one that is not good has a reason."""

    good: bool
    reason: thumbs.Reason = ""
    by: By = Field(default_factory=name_of_caller)


class PatternChange(_Body):
    """Whether drafts of an intent leave without a person from now on."""

    is_open: bool
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class IncidentChange(_Body):
    """An incident is over, or is not. `answer` is drafted for each who reported it, and waits for approval."""

    is_open: bool
    answer: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_REPLY)] = ""
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class DraftOutcome(BaseModel):
    """What became of a draft: `approved`, `sending`, `sent`, `discarded` ..., with the reason where there is one."""

    reply_id: UUID
    state: str
    detail: str


class NewEndpoint(_Body):
    """An endpoint to be registered."""

    url: Url
    kinds: WebhookKinds = Field((), description="the types that it is told of; empty: all that there are now")
    description: Description = ""
    with_text: bool = Field(False, description="tell it what people wrote, too")
    by: By = Field(default_factory=name_of_caller)


class EndpointChange(_Body):
    """What is to be different; what is left out stays."""

    url: Url | None = None
    kinds: WebhookKinds | None = None
    description: Description | None = None
    with_text: bool | None = None
    paused: bool | None = Field(None, description="false enables it again, also where it was disabled by itself")
    by: By = Field(default_factory=name_of_caller)


class Asked(_Body):
    """Who asks."""

    by: By = Field(default_factory=name_of_caller)
