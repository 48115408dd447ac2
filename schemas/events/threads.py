"""What happens to a thread: its mails, its state, its goals, its turns. All carry the thread's version."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID, uuid5

from pydantic import Field

from schemas.events.base import Effect, EventData, Value
from schemas.events.mail import Mode

ThreadState = Literal["new", "in_progress", "awaiting_reply", "escalated", "resolved", "closed"]
Trigger = Literal["ai", "human", "system"]
TurnOutcome = Literal["sent", "no_reply", "superseded", "human_took_over", "escalated", "failed", "rejected"]


_TEXTS = (str, str | None, tuple[str, ...])


class ThreadEvent(EventData):
    """An event of the thread aggregate."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "thread-events"
    AGGREGATE: ClassVar[str] = "thread"

    thread_id: UUID
    participant_id: UUID | None = None

    def aggregate_id(self) -> UUID:
        """The thread."""
        return self.thread_id

    def skeleton(self) -> dict[str, Any]:
        """Everything but texts: a thread in which others go on must keep its state, its turns and its clocks."""
        structure = {name for name, one in type(self).model_fields.items() if one.annotation not in _TEXTS}
        return self.model_dump(mode="json", include=structure | self.SKELETON)


class ThreadOpened(ThreadEvent):
    """A first mail made a thread."""

    TYPE: ClassVar[str] = "thread.opened.v1"

    inbox: str
    subject: str

    def shared_in(self) -> UUID | None:
        """Its first author's alone: nobody else has written."""
        return None


class ThreadLinked(ThreadEvent):
    """The thread goes on from another: after closing, under another subject, or by other proof of its author.

    Or a later mail of it shows that both are one conversation.
    """

    TYPE: ClassVar[str] = "thread.linked.v1"

    linked_from: UUID


class MailAttached(ThreadEvent):
    """A customer's mail now belongs to the thread and is one row of its conversation."""

    TYPE: ClassVar[str] = "thread.mail_attached.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    mail_id: UUID
    text: str
    tokens: int
    trusted: bool
    waits: bool = Field(description="whether the mail waits for an answer")
    mode: Mode = Field("live", description="imported mail starts no clock")

    def shared_in(self) -> UUID | None:
        """Its author's alone."""
        return None

    @classmethod
    def blank(cls, skeleton: dict[str, Any]) -> dict[str, Any]:
        """A mail of which nothing is left waits for no answer."""
        return {**super().blank(skeleton), "waits": False}


class ReplyAttached(ThreadEvent):
    """A mail of ours went out and is one row of the conversation."""

    TYPE: ClassVar[str] = "thread.reply_attached.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    reply_id: UUID
    role: Literal["agent", "human"] = "agent"
    text: str
    tokens: int
    mode: Mode = "live"
    replied_at: datetime | None = Field(None, description="when it was sent, where that is known better than by `time`")
    by: str = Field("", description="the person who wrote it here; empty: the agent, or a colleague's mail program")


class StateChanged(ThreadEvent):
    """The thread made one step of its state machine."""

    TYPE: ClassVar[str] = "thread.state_changed.v1"

    from_state: ThreadState
    to_state: ThreadState
    trigger: Trigger
    reason: str


class TransitionRefused(ThreadEvent):
    """Somebody asked for a step that the state machine does not have."""

    TYPE: ClassVar[str] = "thread.transition_refused.v1"

    from_state: ThreadState
    to_state: ThreadState
    trigger: Trigger
    reason: str
    refused_because: str


class GoalAdded(ThreadEvent):
    """Something is to be reached in this thread ("waiting for the customer to confirm the address")."""

    TYPE: ClassVar[str] = "thread.goal_added.v1"

    goal_id: UUID
    text: str


class GoalClosed(ThreadEvent):
    """A goal was reached or dropped."""

    TYPE: ClassVar[str] = "thread.goal_closed.v1"

    goal_id: UUID


MAIL_WAITS = "a mail waits for the person who has the thread"
REPLY_LOST = "a reply did not go"


class ActionLogged(ThreadEvent):
    """The agent did something besides writing ("escalated to a human")."""

    TYPE: ClassVar[str] = "thread.action_logged.v1"

    action: str
    detail: str = ""
    trigger: Trigger = "system"


class BounceNoted(ThreadEvent):
    """A mail of this thread came back, or its reader complained."""

    TYPE: ClassVar[str] = "thread.bounce_noted.v1"

    mail_id: UUID
    kind: str
    diagnostic: str = ""


class AppliedBehaviour(Value):
    """A rule of the operator that held for a turn: what the model is told, and what it set."""

    name: str
    say: str = ""
    set: dict[str, Any] = Field(default_factory=dict)


class TurnOpened(ThreadEvent):
    """Mails of the thread wait for an answer and the quiet period is over."""

    TYPE: ClassVar[str] = "turn.opened.v1"
    TOPIC: ClassVar[str] = "turns"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"inbox", "by"})

    turn_id: UUID
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    mode: Literal["live", "history"] = "live"
    waiting_since: datetime = Field(description="when the oldest unanswered mail came: the SLA clock")
    behaviours: tuple[AppliedBehaviour, ...] = Field((), description="the rules that held, higher priority first")
    by: str = Field("", description="the person whose own reply this turn is; empty: the agent's")


class TurnClosed(ThreadEvent):
    """A turn ended, in exactly one way."""

    TYPE: ClassVar[str] = "turn.closed.v1"
    TOPIC: ClassVar[str] = "turns"

    turn_id: UUID
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    outcome: TurnOutcome
    reason: str = ""
    reply_id: UUID | None = None
    still_waits: bool = Field(False, description="nobody has answered its mails: they go on waiting")
    answered_by: str = Field("", description="the person whose own reply took its place")


class ThreadTransitionRequested(EventData):
    """A person or a program asks for a step of the thread's state machine; track_threads decides."""

    TYPE: ClassVar[str] = "thread.transition_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"

    thread_id: UUID
    to_state: ThreadState
    trigger: Trigger
    reason: str
    by: str


class TurnFailed(Effect):
    """A processor gave up on a turn; track_threads closes it and calls a human."""

    TYPE: ClassVar[str] = "turn.failed.v1"
    TOPIC: ClassVar[str] = "turns"

    thread_id: UUID
    turn_id: UUID
    processor: str
    error: str


TimerPurpose = Literal[
    "quiet",
    "auto_resolve",
    "auto_close",
    "send_retry",
    "send_settle",
    "sent_copy",
    "approval",
    "escalation",
    "sla",
    "retention",
    "deadline_near",
    "alert",
    "reflect_again",
    "snooze",
    "webhook",
]
# Who sets a timer of each purpose, and does something when it elapses; "" where only earlier releases set one.
TIMERS: Mapping[TimerPurpose, str] = {
    "quiet": "track_threads",
    "auto_resolve": "track_threads",
    "auto_close": "track_threads",
    "sla": "track_threads",
    "deadline_near": "track_threads",
    "snooze": "track_threads",
    "retention": "track_threads",  # asked for by the daily round of retention
    "send_retry": "send_email",
    "send_settle": "send_email",
    "sent_copy": "send_email",
    "alert": "alert_people",
    "webhook": "send_webhooks",
    "reflect_again": "reflect",
    "approval": "",
    "escalation": "",
}


class TimerElapsed(EventData):
    """A timer came due; `purpose` says for whom it was set."""

    TYPE: ClassVar[str] = "timer.elapsed.v1"
    TOPIC: ClassVar[str] = "timers"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"purpose", "due_at"})

    timer_id: UUID
    thread_id: UUID = Field(
        description="what orders it: a thread, for alerts their channel, for webhooks their endpoint"
    )
    purpose: TimerPurpose
    subject: UUID | None = Field(None, description="what the timer is about: a turn, a reply, an event")
    due_at: datetime


def quiet_timer(thread_id: UUID) -> UUID:
    """The timer that ends the quiet period of a thread."""
    return uuid5(thread_id, "quiet")
