"""What track_threads knows of a thread when it decides: a value, read under the thread's lock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.threads import ThreadState


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The turn that is being answered. `leaving`: its reply is at, or past, the SMTP server's door."""

    turn_id: UUID
    mail_ids: tuple[UUID, ...]
    trusted: bool
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A mail that waits for an answer."""

    mail_id: UUID
    at: datetime
    trusted: bool
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """An open goal."""

    goal_id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class Deadline:
    """One deadline as it stands: `due_at` while its clock runs or has run out, `left` while it is paused."""

    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime
    allowed: timedelta
    priority: Priority
    due_at: datetime | None = None
    left: timedelta | None = None

    @property
    def open(self) -> bool:
        """Whether it still waits for what it is about."""
        return self.status in ("running", "paused", "breached")


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it stands. `exists` is False before its first mail; `answered` is whether we ever wrote in it."""

    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    exists: bool = False
    state: ThreadState = "new"
    turn: OpenTurn | None = None
    pending: tuple[Pending, ...] = ()
    goals: tuple[Goal, ...] = ()
    priority: Priority = "normal"
    tags: frozenset[str] = frozenset()
    answered: bool = False
    deadlines: tuple[Deadline, ...] = ()

    @property
    def quiet_timer(self) -> UUID:
        """The timer that ends the quiet period."""
        return uuid5(self.thread_id, "quiet")

    @property
    def idle_timer(self) -> UUID:
        """The timer that resolves, then closes, a thread in which nothing happens."""
        return uuid5(self.thread_id, "idle")

    def deadline_timer(self, kind: DeadlineKind) -> UUID:
        """The timer that fires when a deadline has passed."""
        return uuid5(self.thread_id, f"sla/{kind}")
