"""Reads all that a decision knows: the thread under its lock, and what else the event makes it look at."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events.answers import ReplyRequested
from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.memory import TurnReflected
from schemas.events.proactive import DraftRequested
from schemas.events.ratings import RatingRequested
from schemas.events.suggestions import SuggestionRequested
from schemas.events.threads import TimerElapsed
from services.core.bus.unit import Unit
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


async def load(unit: Unit, thread_id: UUID, mail: EmailRead | None = None) -> Thread:
    """The thread, locked until the end of the transaction; one that a mail comes into may not exist yet."""
    args = {"thread_id": thread_id, "mail_id": mail.mail_id if mail else None}
    rows, pending, goals, deadlines, mails = await unit.read_locked("thread", thread_id, STATE, **args)
    arriving = Pending(**mails[0]) if mails else None
    if not rows:
        author, inbox = (mail.participant_id, mail.inbox) if mail else (None, "")
        return Thread(thread_id=thread_id, participant_id=author, inbox=inbox, arriving=arriving)
    (row,) = rows
    return Thread(
        thread_id=thread_id,
        participant_id=row["participant_id"],
        inbox=row["inbox"],
        exists=True,
        state=row["state"],
        turn=_turn(row) if row["open_turn"] else None,
        pending=tuple(Pending(**one) for one in pending),
        goals=tuple(Goal(**one) for one in goals),
        priority=row["priority"],
        tags=frozenset(row["tags"]),
        answered=row["answered"],
        by_hand=row["by_hand"],
        deadlines=tuple(_deadline(one) for one in deadlines),
        assignee=row["assignee"],
        snoozed_until=row["snoozed_until"],
        arriving=arriving,
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
            row = await unit.one(SQL.rated_reply, thread_id=event.thread_id, reply_id=event.reply_id)
            return thread, replace(command, reply=Rated(**row) if row else None)
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
    rows = await unit.all(SQL.occasion_mails, mail_ids=list(mail_ids))
    mails = tuple(Mail(**one) for one in rows)
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
    mail = await unit.one(SQL.answered_mail, **args)
    unsettled = await unit.one(SQL.unsettled, **args)
    return Circumstances(
        known=await unit.one(SQL.turn_of, turn_id=turn_of(asked.reply_id)) is not None,
        mail=Pending(**mail) if mail else None,
        came=tuple(row["id"] for row in await unit.all(SQL.came_since, **args)),
        unsettled=unsettled["reply_id"] if unsettled else None,
    )


async def _with_newest(unit: Unit, command: Command, asked: DraftRequested) -> Command:
    """The command with the customer's newest proven mail, and whether this draft was made before."""
    known = await unit.one(SQL.turn_of, turn_id=turn_of_draft(asked.reply_id))
    mail = await unit.one(SQL.newest_proven, thread_id=asked.thread_id, participant_id=asked.participant_id)
    return replace(command, again=known is not None, newest=Pending(**mail) if mail else None)


async def _with_due(unit: Unit, thread: Thread, command: Command, timer: TimerElapsed) -> Command:
    """The command with what counts where texts are old, or a deadline was missed."""
    if timer.purpose == "retention":
        return replace(command, bodies_due=await _bodies_due(unit, thread, command.settings))
    return replace(command, draft=await _draft(unit, thread)) if breached(thread, timer) else command


async def _with_answered(unit: Unit, thread: Thread, command: Command) -> Command:
    """The command with the newest mail of a customer, and what behaviours look at of what is answered with it."""
    mail = await unit.one(SQL.answered_mail, thread_id=thread.thread_id, mail_id=None)
    if mail is None:
        return command
    newest = Pending(**mail)
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


def _turn(row: dict[str, Any]) -> OpenTurn:
    return OpenTurn(
        turn_id=row["open_turn"],
        mail_ids=tuple(row["turn_mails"]),
        trusted=row["turn_trusted"],
        leaving=row["leaving"],
        participant_id=row["turn_participant_id"],
        by=row["turn_by"],
    )


def _deadline(row: dict[str, Any]) -> Deadline:
    allowed_s, left_s = row.pop("allowed_s"), row.pop("left_s")
    left = None if left_s is None else timedelta(seconds=left_s)
    return Deadline(**row, allowed=timedelta(seconds=allowed_s), left=left)
