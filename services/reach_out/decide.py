"""Whom a rule holds for on a day, and what becomes of a proposal. Pure.

A reason is one of its day: what a round missed is not made up for, and a day that lies too far back is followed up no
more. The same occasion gives the same id, so that it is proposed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import MappingProxyType
from uuid import UUID, uuid5

from schemas.events.outreach import OutreachProposed, OutreachState
from schemas.events.proactive import DraftRequested
from services.core.settings.rules import OutreachRule

FOLLOWING: Mapping[OutreachState, frozenset[OutreachState]] = MappingProxyType(
    {
        "proposed": frozenset({"refused", "discarded", "failed", "sent", "bounced"}),
        "sent": frozenset({"answered", "bounced"}),
    }
)
STALE = timedelta(days=1)  # a round that is come to later than this is of a day that is over


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
class Outreach:
    """A proposal as it stands. `sent_at` is when its mail left."""

    outreach_id: UUID
    participant_id: UUID
    state: OutreachState
    sent_at: datetime | None


def outreach_id(book_id: UUID, rule: OutreachRule, one: Candidate) -> UUID:
    """One id for each occasion: the day that the fact names, the goal, or the silence since their last mail."""
    occasion = one.day or one.goal or one.last_at.isoformat()
    return uuid5(book_id, f"{rule.name}/{one.person}/{occasion}")


def holds(rule: OutreachRule, one: Candidate, today: date) -> bool:
    """Whether the day that the rule asks for is near; the rest is in the statement that finds candidates."""
    if not rule.fact:
        return True
    try:
        day = date.fromisoformat((one.day or "").strip())
    except ValueError:
        return False
    return -rule.late_days <= (day - today).days <= rule.within_days


def proposals(
    rule: OutreachRule, found: Sequence[Candidate], book_id: UUID, inbox: str, today: date
) -> Iterator[tuple[OutreachProposed, DraftRequested]]:
    """A proposal and the draft that it wants, for each whom the rule holds for."""
    for one in found:
        if holds(rule, one, today):
            id = outreach_id(book_id, rule, one)
            whom = {"participant_id": one.participant_id, "thread_id": one.thread_id, "reason": because(rule, one)}
            turn = uuid5(id, "turn")
            proposed = OutreachProposed(
                book_id=book_id, outreach_id=id, inbox=inbox, turn_id=turn, rule=rule.name, **whom
            )
            yield proposed, DraftRequested(reply_id=id, text=text_of(rule, one), unsubscribe=True, **whom)


def because(rule: OutreachRule, one: Candidate) -> str:
    """Why, as a person who approves it is told."""
    parts = [f"{rule.fact} {one.day}" if rule.fact else "", f"open goal: {one.goal}" if rule.goal_days else ""]
    silent = f"they wrote last on {one.last_at:%Y-%m-%d}"
    return f"rule {rule.name}: " + ", ".join(filter(None, (*parts, silent)))


def text_of(rule: OutreachRule, one: Candidate) -> str:
    """The rule's text, filled in; each value on one line."""
    given = {"{name}": one.name or "there", "{date}": one.day or "", "{goal}": one.goal or ""}
    text = rule.text
    for place, value in given.items():
        text = text.replace(place, " ".join(value.split())[:200])
    return text


def follows(state: OutreachState, to: OutreachState) -> bool:
    """Whether the one may come of the other."""
    return to in FOLLOWING.get(state, ())
