"""What track_threads knows of a thread when it decides: a value, read under the thread's lock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.threads import ThreadState, quiet_timer

Author = tuple[UUID | None, bool]  # a participant, and whether it is certain that it was they


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The turn that is being answered, all of one author. `leaving`: its reply is at, or past, the server's door.

    `by` is the person whose own reply it is; "" where the agent writes.
    """

    turn_id: UUID
    mail_ids: tuple[UUID, ...]
    trusted: bool
    leaving: bool = False
    participant_id: UUID | None = None
    by: str = ""

    @property
    def kept(self) -> bool:
        """Whether nothing but what becomes of its reply ends it."""
        return self.leaving or bool(self.by)


@dataclass(frozen=True, slots=True)
class Pending:
    """A mail that waits for an answer, and who wrote it."""

    mail_id: UUID
    at: datetime
    trusted: bool
    message_id: str = ""
    participant_id: UUID | None = None
    addr: str = ""

    @property
    def author(self) -> Author:
        """Whom an answer to it is for."""
        return self.participant_id, self.trusted


@dataclass(frozen=True, slots=True)
class Goal:
    """An open goal, and the person whom it was agreed with."""

    goal_id: UUID
    text: str
    participant_id: UUID | None
    added_at: datetime


@dataclass(frozen=True, slots=True)
class Deadline:
    """One deadline: `due_at` while its clock runs or ran out, `left` while paused, `ended_at` once met or missed."""

    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime
    allowed: timedelta
    priority: Priority
    due_at: datetime | None = None
    left: timedelta | None = None
    ended_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether it still waits for what it is about."""
        return self.status in ("running", "paused", "breached")


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it stands. `exists` is False before its first mail; `answered` is whether we ever wrote in it.

    `snoozed_until` is until when a person put it off, `by_hand` whether a colleague was the last to write in it.
    `began_at` is when it was opened last: by its first mail, or after it was resolved or closed; None for imported,
    and where no other priority is decided on: it is read for that alone. `arriving` is what the table `mails` says of
    the mail that is about to be attached, `linked` whether it says which thread it goes on from.
    """

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
    by_hand: bool = False
    began_at: datetime | None = None
    deadlines: tuple[Deadline, ...] = ()
    assignee: str = ""
    snoozed_until: datetime | None = None
    arriving: Pending | None = None
    linked: bool = False

    @property
    def next_up(self) -> tuple[Pending, ...]:
        """The mails of the next turn: all that wait of the author who has waited longest."""
        return next(iter(by_author(self.pending)), ())

    @property
    def quiet_timer(self) -> UUID:
        """The timer that ends the quiet period."""
        return quiet_timer(self.thread_id)

    @property
    def idle_timer(self) -> UUID:
        """The timer that resolves, then closes, a thread in which nothing happens."""
        return uuid5(self.thread_id, "idle")

    @property
    def snooze_timer(self) -> UUID:
        """The timer that puts a thread on the list again which was put off."""
        return uuid5(self.thread_id, "snooze")

    def deadline_timer(self, kind: DeadlineKind) -> UUID:
        """The timer that fires when a deadline has passed."""
        return uuid5(self.thread_id, f"sla/{kind}")

    def warning_timer(self, kind: DeadlineKind) -> UUID:
        """The timer that fires when a deadline is near."""
        return uuid5(self.thread_id, f"near/{kind}")


def by_author(mails: Iterable[Pending]) -> tuple[tuple[Pending, ...], ...]:
    """The mails of each author, who has waited longest first: nobody is answered with what another one asked."""
    waiting = sorted(mails, key=lambda one: one.at)
    authors = dict.fromkeys(one.author for one in waiting)
    return tuple(tuple(one for one in waiting if one.author == author) for author in authors)
