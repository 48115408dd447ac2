"""Reads all that a decision knows: the thread under its lock, and what else the event makes it look at."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.answers import ReplyRequested
from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.memory import TurnReflected
from schemas.events.proactive import DraftRequested
from schemas.events.ratings import RatingRequested
from schemas.events.suggestions import SuggestionRequested
from schemas.events.threads import ThreadState, TimerElapsed
from services.core.bus.unit import Unit
from services.core.db import first_as
from services.core.settings import Behaviour, Settings
from services.track_threads.apply import SQL
from services.track_threads.behaviours import Mail, Occasions, Person, escalation, rules_of
from services.track_threads.deadlines import breached
from services.track_threads.decide import Command, kept_from, mails_in_question, may_reprioritise, rules_in_question
from services.track_threads.person import Circumstances, theirs, turn_of
from services.track_threads.proactive import turn_of as turn_of_draft
from services.track_threads.ratings import Rated
from services.track_threads.thread import Deadline, Goal, OpenTurn, Pending, Thread

STATE = (SQL.thread, SQL.pending, SQL.open_goals, SQL.deadlines, SQL.arriving)


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread's row with its open turn, of which the columns `turn_*` and `leaving` tell."""

    participant_id: UUID | None
    inbox: str
    state: ThreadState
    priority: Priority
    tags: list[str]
    assignee: str
    snoozed_until: datetime | None
    linked_from: UUID | None
    answered: bool
    by_hand: bool
    open_turn: UUID | None
    turn_mails: list[UUID] | None
    turn_by: str | None
    turn_trusted: bool
    turn_participant_id: UUID | None
    leaving: bool

    @property
    def turn(self) -> OpenTurn | None:
        """The turn that is open."""
        if self.open_turn is None:
            return None
        assert self.turn_mails is not None  # of the row in `turns` that was opened with it
        assert self.turn_by is not None
        return OpenTurn(
            turn_id=self.open_turn,
            mail_ids=tuple(self.turn_mails),
            trusted=self.turn_trusted,
            leaving=self.leaving,
            participant_id=self.turn_participant_id,
            by=self.turn_by,
        )


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """A clock of the thread; its times in seconds, `left_s` where it is paused."""

    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime
    allowed_s: float
    priority: Priority
    due_at: datetime | None
    left_s: float | None
    ended_at: datetime | None

    @property
    def deadline(self) -> Deadline:
        """The clock as decisions know it."""
        left = None if self.left_s is None else timedelta(seconds=self.left_s)
        allowed = timedelta(seconds=self.allowed_s)
        return Deadline(self.kind, self.status, self.since, allowed, self.priority, self.due_at, left, self.ended_at)


async def load(unit: Unit, thread_id: UUID, mail: EmailRead | None = None) -> Thread:
    """The thread, locked until the end of the transaction; one that a mail comes into may not exist yet."""
    args = {"thread_id": thread_id, "mail_id": mail.mail_id if mail else None}
    rows, pending, goals, deadlines, mails = await unit.read_locked("thread", thread_id, STATE, **args)
    arriving, row = first_as(Pending, mails), first_as(ThreadRow, rows)
    if row is None:
        author, inbox = (mail.participant_id, mail.inbox) if mail else (None, "")
        return Thread(thread_id=thread_id, participant_id=author, inbox=inbox, arriving=arriving)
    return Thread(
        thread_id=thread_id,
        participant_id=row.participant_id,
        inbox=row.inbox,
        exists=True,
        state=row.state,
        turn=row.turn,
        pending=tuple(Pending(**one) for one in pending),
        goals=tuple(Goal(**one) for one in goals),
        priority=row.priority,
        tags=frozenset(row.tags),
        answered=row.answered,
        by_hand=row.by_hand,
        deadlines=tuple(DeadlineRow(**one).deadline for one in deadlines),
        assignee=row.assignee,
        snoozed_until=row.snoozed_until,
        arriving=arriving,
        linked=row.linked_from is not None,
    )


async def look_up(unit: Unit, thread: Thread, event: EventData, settings: Settings) -> tuple[Thread, Command]:
    """The command that an event is to the thread, and the thread with when it was opened last, where that counts."""
    command = Command(event, unit.cause.id, unit.now, settings)
    if isinstance(event, TurnReflected) and await unit.one(SQL.imported, mail_ids=list(event.mail_ids)):
        return thread, replace(command, imported=True)
    if rules := rules_in_question(thread, event, settings):
        command = replace(command, occasions=await _occasions(unit, thread, mails_in_question(thread, event), rules))
    if may_reprioritise(thread, event, rules):
        thread = await dated(unit, thread)
    match event:
        case EmailRead() if event.verdict.kind == "colleague":
            row = await unit.one(SQL.stands_in_thread, thread_id=thread.thread_id, reply_id=event.mail_id)
            return thread, replace(command, known=row is not None)
        case ReplyRequested():
            return thread, replace(command, circumstances=await _circumstances(unit, event))
        case SuggestionRequested():
            return thread, await _with_answered(unit, thread, command)
        case RatingRequested():
            args = {"thread_id": event.thread_id, "reply_id": event.reply_id}
            return thread, replace(command, reply=await unit.row_as(Rated, SQL.rated_reply, **args))
        case DraftRequested():
            return thread, await _with_newest(unit, command, event)
        case TimerElapsed():
            return thread, await _with_due(unit, thread, command, event)
    return thread, command


async def dated(unit: Unit, thread: Thread) -> Thread:
    """The thread with when it was opened last, which takes a look through all of it."""
    row = await unit.one(SQL.began, thread_id=thread.thread_id)
    return replace(thread, began_at=row["at"] if row else None)


async def _occasions(unit: Unit, thread: Thread, mail_ids: Collection[UUID], rules: Iterable[Behaviour]) -> Occasions:
    """What behaviours look at of mails, and their proven authors."""
    mails = tuple(await unit.rows_as(Mail, SQL.occasion_mails, mail_ids=list(mail_ids)))
    proven = {one.participant_id for one in mails if one.trusted}
    people = {one: await _person(unit, one) for one in proven}
    if not escalation(rules):
        return Occasions(mails, people)
    had = await unit.all(SQL.handed_over, thread_id=thread.thread_id, mail_ids=list(mail_ids))
    return Occasions(mails, people, frozenset(one["mail_id"] for one in had))


async def _person(unit: Unit, participant_id: UUID | None) -> Person:
    row = await unit.one(SQL.occasion_person, participant_id=participant_id)
    return Person(row["state"], tuple(row["tags"]), row["risk"]) if row else Person()


async def _bodies_due(unit: Unit, thread: Thread, settings: Settings) -> bool:
    """Whether the thread rests and holds a text from before the time that is kept."""
    if not settings.retention.bodies_days:
        return False
    row = await unit.one(SQL.due_bodies, thread_id=thread.thread_id, before=kept_from(unit.now, settings))
    return row is not None and bool(row["due"])


async def _circumstances(unit: Unit, asked: ReplyRequested) -> Circumstances:
    """What a person's reply meets: the mail that it answers, and what has come since they looked."""
    args = {"thread_id": asked.thread_id, "seen": asked.thread_version, "mail_id": asked.mail_id}
    mail = await unit.row_as(Pending, SQL.answered_mail, **args)
    unsettled = await unit.one(SQL.unsettled, **args)
    return Circumstances(
        known=await unit.one(SQL.turn_of, turn_id=turn_of(asked.reply_id)) is not None,
        mail=mail,
        came=tuple(row["id"] for row in await unit.all(SQL.came_since, **args)),
        unsettled=unsettled["reply_id"] if unsettled else None,
    )


async def _with_newest(unit: Unit, command: Command, asked: DraftRequested) -> Command:
    """The command with the customer's newest proven mail, and whether this draft was made before."""
    known = await unit.one(SQL.turn_of, turn_id=turn_of_draft(asked.reply_id))
    args = {"thread_id": asked.thread_id, "participant_id": asked.participant_id}
    return replace(command, again=known is not None, newest=await unit.row_as(Pending, SQL.newest_proven, **args))


async def _with_due(unit: Unit, thread: Thread, command: Command, timer: TimerElapsed) -> Command:
    """The command with what counts where texts are old, or a deadline was missed."""
    if timer.purpose == "retention":
        return replace(command, bodies_due=await _bodies_due(unit, thread, command.settings))
    return replace(command, draft=await _draft(unit, thread)) if breached(thread, timer) else command


async def _with_answered(unit: Unit, thread: Thread, command: Command) -> Command:
    """The command with the newest mail of a customer, and what behaviours look at of what is answered with it."""
    newest = await unit.row_as(Pending, SQL.answered_mail, thread_id=thread.thread_id, mail_id=None)
    if newest is None:
        return command
    command = replace(command, newest=newest)
    rules = rules_of(command.settings, thread.inbox, "before")
    if not rules:
        return command
    mails = [one.mail_id for one in theirs(thread, newest)]
    return replace(command, occasions=await _occasions(unit, thread, mails, rules))


async def _draft(unit: Unit, thread: Thread) -> str:
    """What the agent wrote in the open turn, unless that is leaving."""
    if thread.turn is None or thread.turn.leaving:
        return ""
    row = await unit.one(SQL.drafted, thread_id=str(thread.thread_id), turn_id=str(thread.turn.turn_id))
    return str(row["data"].get("text") or "") if row else ""
