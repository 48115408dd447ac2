"""Reads what behaviours look at, and finds those that hold."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from services.core.bus.unit import Unit
from services.core.settings import Behaviour, Settings, in_force
from services.track_threads.apply import SQL
from services.track_threads.behaviours import Occasion, escalation, holding
from services.track_threads.thread import Thread


async def before_turn(
    unit: Unit, thread: Thread, settings: Settings, mail_ids: Sequence[UUID]
) -> tuple[Behaviour, ...]:
    """The rules that hold for mails before they are answered."""
    rules = _rules(settings, thread, "before")
    if not rules or not mail_ids:
        return ()
    return holding(rules, await occasion(unit, mail_ids), thread)


async def for_a_person(unit: Unit, thread: Thread, rules: Sequence[Behaviour]) -> str:
    """Why a person shall answer what is next, "" where no rule says so of mails that no person has handed back."""
    if not escalation(rules):
        return ""
    mail_ids = [one.mail_id for one in thread.next_up]
    had = {one["mail_id"] for one in await unit.all(SQL.handed_over, thread_id=thread.thread_id, mail_ids=mail_ids)}
    fresh = [one for one in mail_ids if one not in had]
    return escalation(holding(rules, await occasion(unit, fresh), thread)) if fresh else ""


async def after_turn(
    unit: Unit, thread: Thread, settings: Settings, mail_ids: Sequence[UUID], outcome: str, intent: str
) -> tuple[Behaviour, ...]:
    """The rules that hold for a turn that was learned from."""
    rules = _rules(settings, thread, "after")
    if not rules or not mail_ids:
        return ()
    return holding(rules, await occasion(unit, mail_ids, outcome, intent), thread)


async def occasion(unit: Unit, mail_ids: Sequence[UUID], outcome: str = "", intent: str = "") -> Occasion:
    """What the mails of a turn and their author are."""
    mails = await unit.all(SQL.occasion_mails, mail_ids=list(mail_ids))
    known = bool(mails) and all(one["trusted"] for one in mails)
    person = await unit.one(SQL.occasion_person, participant_id=mails[0]["participant_id"]) if known else None
    return Occasion(
        subjects=tuple(one["subject"] for one in mails),
        texts=tuple(one["text"] for one in mails),
        authenticated=known,
        domains=tuple(one["author_addr"].rpartition("@")[2] for one in mails),
        languages=tuple(one["language"] for one in mails if one["language"]),
        participant_state=person["state"] if person else "",
        participant_tags=tuple(person["tags"]) if person else (),
        risk=person["risk"] if person else "",
        outcome=outcome,
        intent=intent,
    )


def _rules(settings: Settings, thread: Thread, moment: str) -> tuple[Behaviour, ...]:
    inbox = settings.known_inbox(thread.inbox)
    return in_force(settings.behaviours, inbox.behaviours if inbox else (), moment)
