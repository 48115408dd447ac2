"""Pure decisions that follow where a person takes a value back or corrects it: nothing of it may answer any more.

The value is withdrawn wherever the person has it: under each of their addresses, in the past too, with all that was
merged into it. What it had taken the place of stands again. Text that was written while it was believed (brief,
session) is emptied: nobody can say which of its words came from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import BriefWritten, FactRecorded, FactRequested, FactRestored, FactRetracted, SessionNoted
from services.learn_facts.decide_session import live
from services.learn_facts.forms import same_value
from services.learn_facts.participant import Fact, Participant

Events = Iterator[EventData]


def took_back(asked: FactRequested) -> str:
    """Why a fact is withdrawn, in words."""
    return f"{asked.by} corrected it" if asked.op == "correct" else f"{asked.by} took it back"


def ended_by(decided: Iterable[EventData]) -> UUID | None:
    """The fact that a decision takes back or corrects; None where it does neither."""
    for event in decided:
        if isinstance(event, FactRetracted) and event.valid_to is None:
            return event.fact_id
        if isinstance(event, FactRecorded) and event.corrects:
            return event.supersedes[0]
    return None


def withdrawn_with(known: Fact, people: Sequence[Participant], one: Participant) -> list[UUID]:
    """What of `one` says the same as the fact that is withdrawn, and what was merged into that; the fact itself apart.

    A past fact is withdrawn alone: the same value may rightly stand at another time.
    """
    current = any(fact.fact_id == known.fact_id for who in people for fact in who.facts)
    same = [fact for fact in _held(one) if fact.fact_id == known.fact_id or (current and _says(fact, known))]
    found = (id for fact in same for id in (fact.fact_id, *fact.members) if id != known.fact_id)
    return list(dict.fromkeys(found))


def follows(
    who: Participant, fact_id: UUID, asked: FactRequested, people: Sequence[Participant], now: datetime, brief: bool
) -> Events:
    """What else becomes of one participant's memory when a fact of the person is withdrawn.

    `people` are all of the person's participants, `who` among them, as before; `brief` is whether any has one: readers
    of each may hold it.
    """
    known = next(fact for one in people for fact in _held(one) if fact.fact_id == fact_id)
    also = withdrawn_with(known, people, who)
    for id in also:
        yield FactRetracted(participant_id=who.participant_id, fact_id=id, reason=f"{took_back(asked)}: the same value")
    if asked.op == "forget":
        yield from restored(who, {fact_id, *also})
    if brief:
        yield BriefWritten(participant_id=who.participant_id, text="")
    session = live(who, now)
    if session is not None:
        yield SessionNoted(participant_id=who.participant_id, thread_id=session.thread_id, summary="", expires_at=now)


def _held(who: Participant) -> list[Fact]:
    """What is believed, and what was and is not withdrawn."""
    return [*who.facts, *(one for one in who.past if not one.withdrawn_at)]


def _says(fact: Fact, known: Fact) -> bool:
    return fact.key == known.key and same_value(fact.value, known.value)


def restored(who: Participant, gone: Collection[UUID]) -> Iterator[FactRestored]:
    """What the withdrawn values had replaced, as far as nothing else has; of a key with one value the last word."""
    taken = {one.key for one in who.facts if one.single_valued and one.fact_id not in gone}
    left = sorted((one for one in who.past if _stands(one, gone)), key=lambda one: (one.confirmed_at, one.fact_id))
    last = {one.key: one.fact_id for one in left if one.single_valued}
    for one in left:
        first = not one.single_valued or (one.key not in taken and last[one.key] == one.fact_id)
        if first and _is_freed(one, who.past, gone):
            yield FactRestored(
                participant_id=who.participant_id, fact_id=one.fact_id, reason="what had replaced it was taken back"
            )


def _stands(past: Fact, gone: Collection[UUID]) -> bool:
    return past.fact_id not in gone and not past.withdrawn_at


def _is_freed(past: Fact, others: Sequence[Fact], gone: Collection[UUID]) -> bool:
    """Whether all that followed it is withdrawn, and some of that now."""
    by_id = {one.fact_id: one for one in others}
    freed, successor = False, past.superseded_by
    while successor is not None:
        later = by_id.get(successor)
        if successor not in gone and (later is None or not later.withdrawn_at):
            return False
        freed = freed or successor in gone
        successor = later.superseded_by if later else None
    return freed
