"""Reads once, under the book's lock, what a day's round decides on: nothing that it records is read back.

A round's own event is about nobody, so no erase stops it: whoever was erased since they were read is left out by a look
that keeps the others from being erased until the round is over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from schemas.events.outreach import OutreachDue
from services.core.bus.unit import Unit
from services.core.settings.rules import OutreachRule, OutreachSettings
from services.memory.facts import plain_key
from services.reach_out.apply import SQL
from services.reach_out.decide import Candidate, Day, outreach_id

MOST = 500  # candidates of a rule that are looked at in a round


async def load_day(unit: Unit, due: OutreachDue, settings: OutreachSettings, zone: ZoneInfo) -> Day:
    """Whom each rule may be about, which of these occasions were proposed before, and how many more the day takes.

    The day is that of the office's clock (`zone`): in Auckland a morning is still yesterday in UTC.
    """
    now = due.due_at.astimezone(zone)
    rules = [rule for rule in settings.rules if rule.inbox in ("", due.inbox)]
    found = [(rule, await _candidates(unit, rule, due, settings.person_days)) for rule in rules]
    ids = [outreach_id(due.book_id, rule, one) for rule, candidates in found for one in candidates]
    known = frozenset(row["outreach_id"] for row in await unit.all(SQL.known, ids=ids))
    room = settings.per_day - await _proposed(unit, due, now)
    everybody = sorted({one.participant_id for _, candidates in found for one in candidates})
    there = {row["participant_id"] for row in await unit.all(SQL.not_erased, people=everybody)}
    found = [(rule, [one for one in some if one.participant_id in there]) for rule, some in found]
    return Day(due.book_id, due.inbox, now.date(), found, known, room)


async def _proposed(unit: Unit, due: OutreachDue, now: datetime) -> int:
    """How many were proposed for the inbox on this day, and none of the day before in its last hours."""
    since = now.replace(hour=0, minute=0, second=0, microsecond=0)
    row = await unit.one(SQL.proposed_since, workspace=unit.workspace, inbox=due.inbox, since=since)
    return int(row["n"]) if row else 0


async def _candidates(unit: Unit, rule: OutreachRule, due: OutreachDue, person_days: float) -> list[Candidate]:
    def before(days: float) -> datetime:
        return due.due_at - timedelta(days=days)

    return await unit.rows_as(
        Candidate,
        SQL.candidates,
        workspace=unit.workspace,
        inbox=due.inbox,
        now=due.due_at,
        silent_since=before(rule.silent_days),
        states=list(rule.states),
        state_since=before(rule.state_days),
        fact=plain_key(rule.fact),
        without=plain_key(rule.without_fact),
        with_goal=rule.goal_days > 0,
        goal_since=before(rule.goal_days),
        person_since=before(person_days),
        most=MOST,
    )
