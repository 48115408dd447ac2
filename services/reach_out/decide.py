"""Whom a rule holds for on a day, and what becomes of a proposal. Pure.

A reason is one of its day: what a round missed is not made up for, and a day that lies too far back is followed up no
more. The same occasion gives the same id, so that it is proposed once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType
from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.events.outreach import OutreachProposed, OutreachState
from schemas.events.proactive import DraftRequested
from services.core.settings.rules import OutreachRule
from services.memory.wording import says

FOLLOWING: Mapping[OutreachState, frozenset[OutreachState]] = MappingProxyType(
    {
        "proposed": frozenset({"refused", "discarded", "failed", "sent", "bounced"}),
        "sent": frozenset({"answered", "bounced"}),
    }
)
STALE = timedelta(days=1)  # a round that is come to later than this is of a day that is over
OPENING = 500  # characters of an answer that are looked at for its wish to get no more
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)  # of the forms of ISO 8601 the one that is documented
_PLACE = re.compile(r"\{(name|date|goal)\}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody whom a rule may hold for. `day` is what their fact says, `goal` what is open with them."""

    participant_id: UUID
    person: UUID
    name: str
    thread_id: UUID
    last_at: datetime
    day: str | None = None
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """What a round of an inbox decides on: each rule's candidates, the occasions proposed before, and the room left."""

    book_id: UUID
    inbox: str
    today: date
    found: Sequence[tuple[OutreachRule, Sequence[Candidate]]]
    known: Set[UUID]
    room: int


@dataclass(frozen=True, slots=True)
class Outreach:
    """A proposal as it stands. `sent_at` is when its mail left."""

    outreach_id: UUID
    participant_id: UUID
    state: OutreachState
    sent_at: datetime | None


def outreach_id(book_id: UUID, rule: OutreachRule, one: Candidate) -> UUID:
    """One id for each occasion: the day that the fact names, the goal, or the silence since their last mail."""
    occasion = (one.day or "").strip() or one.goal or one.last_at.isoformat()
    return uuid5(book_id, f"{rule.name}/{one.person}/{occasion}")


def holds(rule: OutreachRule, one: Candidate, today: date) -> bool:
    """Whether the day that the rule asks for is near; the rest is in the statement that finds candidates."""
    if not rule.fact:
        return True
    day = _read(one.day or "")
    return day is not None and -rule.late_days <= (day - today).days <= rule.within_days


def _read(day: str) -> date | None:
    try:
        return date.fromisoformat(day.strip()) if _DAY.fullmatch(day.strip()) else None
    except ValueError:
        return None


def proposals(day: Day) -> Iterator[EventData]:
    """A proposal and its draft for each person whom a rule holds for: one a person, the first rule first."""
    room, done = day.room, set[UUID]()
    for rule, candidates in day.found:
        for one in candidates:
            id = outreach_id(day.book_id, rule, one)
            if room > 0 and one.person not in done and id not in day.known and holds(rule, one, day.today):
                yield from _proposal(day, rule, one, id)
                room, done = room - 1, done | {one.person}


def _proposal(day: Day, rule: OutreachRule, one: Candidate, id: UUID) -> tuple[OutreachProposed, DraftRequested]:
    whom = {"participant_id": one.participant_id, "thread_id": one.thread_id, "reason": because(rule, one)}
    named = {"book_id": day.book_id, "outreach_id": id, "inbox": day.inbox, "rule": rule.name}
    proposed = OutreachProposed.model_validate({**named, **whom, "turn_id": uuid5(id, "turn")})
    return proposed, DraftRequested(reply_id=id, text=text_of(rule, one), unsubscribe=True, **whom)


def because(rule: OutreachRule, one: Candidate) -> str:
    """Why, as a person who approves it is told."""
    parts = [f"{rule.fact} {one.day}" if rule.fact else "", f"open goal: {one.goal}" if rule.goal_days else ""]
    silent = f"they wrote last on {one.last_at:%Y-%m-%d}"
    return f"rule {rule.name}: " + ", ".join(filter(None, (*parts, silent)))


def text_of(rule: OutreachRule, one: Candidate) -> str:
    """The rule's text, filled in once, each value on one line: a customer's name is no place to be filled in."""
    given = {"name": one.name or "there", "date": one.day or "", "goal": one.goal or ""}
    return _PLACE.sub(lambda place: " ".join(given[place[1]].split())[:200], rule.text)


def says_stop(text: str) -> bool:
    """Whether an answer says in its first words that they want no such mail any more."""
    return says("stops", text[:OPENING])


def follows(state: OutreachState, to: OutreachState) -> bool:
    """Whether the one may come of the other."""
    return to in FOLLOWING.get(state, ())
