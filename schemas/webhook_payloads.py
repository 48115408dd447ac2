"""What webhooks tell other programs: the public types, and the shape of `data` of each. A type only gains fields.

Invariant: without text a payload holds ids, times, numbers, words of a fixed list, and names that the operator gave
(inboxes, colleagues). What anybody wrote stands in `text`, which is null unless the endpoint asks for it.
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Literal, get_args
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.events.mail import IdentityLevel
from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.threads import ThreadState, Trigger

LONGEST_TEXT = 20_000  # characters of each text in a payload

Kind = Literal[
    "mail.received",
    "thread.opened",
    "thread.state_changed",
    "thread.assigned",
    "thread.priority_changed",
    "thread.tags_changed",
    "thread.note_added",
    "thread.deadline_changed",
    "draft.waiting",
    "reply.sent",
    "reply.failed",
    "reply.bounced",
    "reply.unknown",
    "reply.rated",
    "incident.opened",
    "incident.closed",
    "incident.reopened",
    "participant.erased",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEST = "webhook.test"  # sent on request alone, and to any endpoint


class Payload(BaseModel):
    """`data` of a webhook."""

    model_config = ConfigDict(frozen=True)


class MailText(BaseModel):
    """What a customer wrote, and who they say they are."""

    author_name: str = ""
    author_address: str = ""
    subject: str = ""
    body: str = Field("", description="the new text, without quotations")
    cut: bool = Field(False, description="there is more than stands here")


class Words(BaseModel):
    """What somebody wrote."""

    body: str = ""
    cut: bool = Field(False, description="there is more than stands here")


class MailReceived(Payload):
    """A customer's mail came in and is part of a thread. Mail that nobody answers (bounces, robots) is not told."""

    mail_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    needs: Literal["answer", "human"] = Field(description="human: a person is to answer it")
    sender_level: IdentityLevel = Field(
        description="how far the sender is proven; unverified: anybody may have sent it"
    )
    language: str = Field(description="ISO 639-1; empty: not known")
    attachments: int
    text: MailText | None = None


class ThreadOpened(Payload):
    """A first mail made a thread."""

    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    text: Words | None = Field(None, description="the subject")


class ThreadStateChanged(Payload):
    """The thread made one step of its state machine."""

    thread_id: UUID
    participant_id: UUID | None
    from_state: ThreadState
    to_state: ThreadState
    by: Trigger
    text: Words | None = Field(None, description="the reason")


class ThreadAssigned(Payload):
    """Somebody has the thread now, or nobody."""

    thread_id: UUID
    assignee: str = Field(description="a colleague's name; empty: nobody")


class ThreadPriorityChanged(Payload):
    """The thread's priority changed."""

    thread_id: UUID
    from_priority: Priority
    to_priority: Priority
    by: Trigger


class ThreadTagsChanged(Payload):
    """Tags were put on the thread or taken off: those that changed."""

    thread_id: UUID
    added: tuple[str, ...]
    removed: tuple[str, ...]
    by: Trigger


class ThreadNoteAdded(Payload):
    """A note for people stands at the thread."""

    thread_id: UUID
    note_id: UUID
    by: Trigger
    author: str = Field(description="the colleague's name; of the agent: agent")
    text: Words | None = None


class ThreadDeadlineChanged(Payload):
    """A deadline of the thread began, paused, went on, was met, missed, dropped or breached."""

    thread_id: UUID
    deadline: DeadlineKind
    status: DeadlineStatus
    due_at: datetime | None


class DraftWaiting(Payload):
    """A draft waits for a person's approval."""

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    participant_id: UUID | None
    inbox: str
    level: Literal["review", "human_only"]
    score: float | None = Field(description="from 0 (a person should look) to 1; null where no model wrote it")
    text: Words | None = Field(None, description="the draft as it would leave")


class Reply(Payload):
    """A reply on its way out."""

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    participant_id: UUID | None
    attempt: int


class ReplySent(Reply):
    """The mail server took a reply."""

    by: str = Field(description="the colleague who wrote it; empty: the agent did")
    text: Words | None = None


class ReplyFailed(Reply):
    """The mail server refused a reply for good, or the days of attempts are over."""


class ReplyUnknown(Reply):
    """Nobody knows whether a reply arrived: the connection broke off. A person settles that."""


class ReplyBounced(Payload):
    """A reply came back after the mail server had taken it, or its reader complained."""

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    participant_id: UUID | None
    mail_id: UUID
    bounce: str = Field(description="hard, soft, delayed, complaint or other")
    suppressed: bool = Field(description="the address gets no more mail")
    of_copy: bool = Field(description="a colleague's copy came back; the reply itself arrived")


class ReplyRated(Payload):
    """A customer said whether an answer was good."""

    reply_id: UUID
    thread_id: UUID
    turn_id: UUID
    inbox: str
    good: bool
    text: Words | None = Field(None, description="their comment")


class Incident(Payload):
    """The same issue from several customers of an inbox."""

    incident_id: UUID
    inbox: str
    customers: int | None = Field(description="how many reported it; null where a person decided")


class IncidentOpened(Incident):
    """Several customers of an inbox report the same issue."""


class IncidentClosed(Incident):
    """A person says that an incident is over."""


class IncidentReopened(Incident):
    """An incident is not over: a person says so, or customers report it again."""


class ParticipantErased(Payload):
    """A person was erased: delete what you hold about them. Nothing else about them is told from now on."""

    participant_id: UUID


class Test(Payload):
    """Somebody asked for a test."""

    endpoint_id: UUID


DATA: MappingProxyType[str, type[Payload]] = MappingProxyType(
    {
        "mail.received": MailReceived,
        "thread.opened": ThreadOpened,
        "thread.state_changed": ThreadStateChanged,
        "thread.assigned": ThreadAssigned,
        "thread.priority_changed": ThreadPriorityChanged,
        "thread.tags_changed": ThreadTagsChanged,
        "thread.note_added": ThreadNoteAdded,
        "thread.deadline_changed": ThreadDeadlineChanged,
        "draft.waiting": DraftWaiting,
        "reply.sent": ReplySent,
        "reply.failed": ReplyFailed,
        "reply.bounced": ReplyBounced,
        "reply.unknown": ReplyUnknown,
        "reply.rated": ReplyRated,
        "incident.opened": IncidentOpened,
        "incident.closed": IncidentClosed,
        "incident.reopened": IncidentReopened,
        "participant.erased": ParticipantErased,
        TEST: Test,
    }
)
