"""What a person does in a thread: answers it, takes an answer back, takes the thread over, assigns it, puts it off."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData
from schemas.events.replies import AfterReply, SentFile
from schemas.events.threads import ThreadEvent, Trigger


class ReplyRequested(EventData):
    """A person wrote a reply; track_threads decides whether it still fits what they saw of the thread."""

    TYPE: ClassVar[str] = "thread.reply_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text", "files"})

    reply_id: UUID = Field(description="the same id again is the same reply")
    thread_id: UUID
    thread_version: int = Field(description="the thread's version when the person looked")
    anyway: bool = Field(False, description="send it although somebody wrote since")
    mail_id: UUID | None = Field(None, description="the mail whose author gets it; None: the newest one")
    text: str
    cc: tuple[str, ...] | None = Field(None, description="who gets a copy; None: as the inbox has it")
    files: tuple[SentFile, ...] = ()
    with_quote: bool | None = Field(None, description="quote the answered mail; None: as the inbox has it")
    then: AfterReply = ""
    hold_s: float = Field(0.0, description="how long it waits, so that it can be taken back")
    by: str

    def copied_to(self) -> tuple[str, ...]:
        """Whom it is to go to beside its recipient."""
        return self.cc or ()


class ReplyAccepted(ThreadEvent):
    """A person's reply fits the thread, and is its turn from now on; send_email writes and sends it."""

    TYPE: ClassVar[str] = "thread.reply_accepted.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text", "files"})

    reply_id: UUID
    turn_id: UUID
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    text: str
    cc: tuple[str, ...] | None = None
    files: tuple[SentFile, ...] = ()
    with_quote: bool | None = None
    then: AfterReply = ""
    hold_s: float = 0.0
    by: str

    def copied_to(self) -> tuple[str, ...]:
        """Whom it goes to beside its recipient."""
        return self.cc or ()

    def skeleton(self) -> dict[str, Any]:
        """Without the addresses and the names of files, which are somebody's words."""
        return {name: one for name, one in super().skeleton().items() if name not in ("cc", "files")}


class ReplyRefused(ThreadEvent):
    """A person's reply does not go: somebody wrote since they looked, or another reply is on its way."""

    TYPE: ClassVar[str] = "thread.reply_refused.v1"

    reply_id: UUID
    code: str = Field(description="newer, leaving, unsettled, busy or nobody")
    reason: str
    came: tuple[UUID, ...] = Field((), description="the mails and replies that came since the person looked")
    by: str


class ReplyCancelRequested(EventData):
    """A person takes their reply back; send_email decides whether it can still be held."""

    TYPE: ClassVar[str] = "reply.cancel_requested.v1"
    TOPIC: ClassVar[str] = "deliveries"

    reply_id: UUID
    thread_id: UUID
    by: str


class AssignmentRequested(EventData):
    """A person asks that somebody has the thread; with `take_over` the agent writes nothing in it any more."""

    TYPE: ClassVar[str] = "thread.assignment_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"

    thread_id: UUID
    assignee: str = Field(description="who is to have it; empty: nobody")
    take_over: bool = False
    reason: str = ""
    by: str


class Assigned(ThreadEvent):
    """Somebody has the thread now, or nobody."""

    TYPE: ClassVar[str] = "thread.assigned.v1"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"assignee"})

    assignee: str
    trigger: Trigger = "human"
    reason: str = ""


class SnoozeRequested(EventData):
    """A person puts a thread off until a moment, or takes that back."""

    TYPE: ClassVar[str] = "thread.snooze_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"

    thread_id: UUID
    until: datetime | None = Field(description="None: it is on the list again")
    reason: str = ""
    by: str


class Snoozed(ThreadEvent):
    """The thread is off the lists of people until a moment; without one it is on them again."""

    TYPE: ClassVar[str] = "thread.snoozed.v1"

    until: datetime | None
    trigger: Trigger = "human"
    reason: str = ""
