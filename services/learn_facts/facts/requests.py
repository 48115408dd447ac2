"""Decides what becomes of what people ask of a participant's memory: they are believed before all else. Pure.

A value that a person takes back or corrects is withdrawn wherever the person has it: under each of their addresses, in
the past too, with all that was merged into it. What it had taken the place of stands again. Text that was written while
it was believed (brief, session) is emptied: nobody can say which of its words came from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import (
    BriefWritten,
    FactPinned,
    FactRecorded,
    FactRequested,
    FactRestored,
    FactRetracted,
    FactsUnmerged,
    SessionNoted,
)
from services.learn_facts.facts.consequences import with_consequences
from services.learn_facts.facts.events import refused, still_pinned
from services.learn_facts.facts.policy import Policy, end_of_day
from services.learn_facts.facts.values import same_value
from services.learn_facts.participant import Fact, Participant
from services.learn_facts.people import People
from services.learn_facts.person.session import live
from services.memory.keys import key_of
from services.memory.support import Support, confidence

Events = Iterator[EventData]
UNNAMED = "note"  # the kind of what a person adds without naming one, under a key that nothing stands under


def answer(
    people: People, keeper: UUID, asked: FactRequested, fact_id: UUID, now: datetime, policy: Policy
) -> list[EventData]:
    """What becomes of a person's request about a fact that `keeper` has, and all that follows from it."""
    person = [people[id] for id in sorted(people.person)]
    others = [one for one in person if one.participant_id != keeper]
    decided = list(request(people[keeper], asked, fact_id, now, policy, others))
    decided = with_consequences(people, people[keeper], decided, now)
    ended = ended_by(decided)
    if ended is None:
        return decided
    briefed = any(one.briefed for one in person)
    events = decided
    for one in person:
        people = people.after(events, now)
        also = list(follows(one, ended, asked, person, now, briefed))
        events = with_consequences(people, one, also, now)
        decided = [*decided, *events]
    return decided


def request(
    who: Participant,
    asked: FactRequested,
    fact_id: UUID,
    now: datetime,
    policy: Policy,
    others: Sequence[Participant] = (),
) -> Events:
    """What becomes of a person's request: it is done, or refused in words. `others` are their other addresses.

    A value that is taken back or corrected is withdrawn wherever else the person has it by `withdrawal`.
    """
    asked = asked.model_copy(update={"key": who.key_for(asked.kind, key_of(asked.key, asked.kind))})
    if asked.op == "add":
        stands = _of_key((who, *others), asked.key)
        kind = asked.kind or (stands.kind if stands else UNNAMED)
        of_kind = stands if stands and stands.kind == kind and not stands.expires_at else None
        single = of_kind.single_valued if of_kind else policy.arity(kind, asked.key) == "single"
        yield from _add(who, asked.model_copy(update={"kind": kind}), fact_id, now, policy, single=single)
        return
    known = next((one for one in who.facts if one.fact_id == asked.fact_id), None)
    if known is not None:
        yield from _ON_FACT[asked.op](who, asked, known, fact_id, policy)
    elif asked.op == "forget" and any(one.fact_id == asked.fact_id and not one.withdrawn_at for one in who.past):
        yield FactRetracted(participant_id=who.participant_id, fact_id=asked.fact_id, reason=took_back(asked))
    else:
        yield refused(who, asked, _why_not(who, asked.fact_id))


def _why_not(who: Participant, fact_id: UUID | None) -> str:
    """Why a request about what is not believed now is not granted."""
    held: Sequence[Fact] = (*who.facts, *who.past)
    shown = next((one for one in held if fact_id in one.members), None)
    if shown is not None and not any(one.fact_id == fact_id for one in who.past):
        return f"it is shown as {shown.fact_id}: name that one, or undo the merge first"
    past = next((one for one in who.past if one.fact_id == fact_id), None)
    if past is None:
        return "there is no such fact"
    return "it was taken back already" if past.withdrawn_at else "it is not believed any more: it can only be forgotten"


def _of_key(people: Iterable[Participant], key: str) -> Fact | None:
    """What stands under a key, one that has the only value first."""
    of_key = [one for who in people for one in who.facts if one.key == key]
    return next((one for one in of_key if one.single_valued), of_key[0] if of_key else None)


def _add(
    who: Participant, asked: FactRequested, fact_id: UUID, now: datetime, policy: Policy, *, single: bool
) -> Events:
    if not who.exists:
        yield refused(who, asked, "there is no such participant")
        return
    if not (asked.key and asked.value):
        yield refused(who, asked, "a fact needs a key and a value")
        return
    if asked.kind not in policy.kinds:
        yield refused(who, asked, f"there is no kind of facts {asked.kind!r}: {', '.join(sorted(policy.kinds))}")
        return
    known = {one.fact_id for one in who.facts}
    if not set(asked.parents) <= known:
        yield refused(who, asked, "a fact that it is derived from is not believed")
        return
    lasting = end_of_day(asked.valid_to) is None
    of_key = [one for one in who.facts if single and one.key == asked.key and policy.has_one(one)]
    rivals = [one for one in of_key if lasting or one.is_over(now) or one.for_a_while]
    equal = [one for one in who.facts if one.key == asked.key and same_value(one.value, asked.value)]
    stands = single and (lasting or any(one.single_valued for one in (*rivals, *equal)))
    ended = tuple(dict.fromkeys(one.fact_id for one in (*rivals, *equal)))
    recorded = _by_person(who, asked, fact_id, now, policy, single=stands)
    yield recorded.model_copy(update={"supersedes": ended, "parents": asked.parents})


def _correct(who: Participant, asked: FactRequested, known: Fact, fact_id: UUID, policy: Policy) -> Events:
    """What was wrong was wrong from its beginning: the right value takes its place, and all that is not said again."""
    if not asked.value:
        yield refused(who, asked, "a correction needs a value")
        return
    text = asked.text or _sentence(known, asked.value)
    kept = asked.model_copy(update={"kind": known.kind, "key": known.key, "text": text})
    right = _by_person(who, kept, fact_id, known.valid_from, policy, single=known.single_valued)
    yield right.model_copy(
        update={
            "supersedes": (known.fact_id,),
            "corrects": True,
            "rule": f"{asked.by} corrected it",
            "expires_at": right.expires_at or known.expires_at,
            "parents": known.parents,
        }
    )
    yield from still_pinned(who, fact_id, (known,), asked.by)


def _sentence(known: Fact, value: str) -> str:
    """The known sentence with another value in the place of its own; empty where that place is not clear."""
    text, places = re.subn(rf"(?<!\w){re.escape(known.value)}(?!\w)", lambda _: value, known.text)
    return text if places == 1 else ""


def _forget(who: Participant, asked: FactRequested, known: Fact, fact_id: UUID, policy: Policy) -> Events:
    yield FactRetracted(participant_id=who.participant_id, fact_id=known.fact_id, reason=took_back(asked))


def _pin(who: Participant, asked: FactRequested, known: Fact, fact_id: UUID, policy: Policy) -> Events:
    pinned = asked.op == "pin"
    yield FactPinned(participant_id=who.participant_id, fact_id=known.fact_id, pinned=pinned, by=asked.by)


def _unmerge(who: Participant, asked: FactRequested, known: Fact, fact_id: UUID, policy: Policy) -> Events:
    """What was merged into the fact, and into what it took the place of, stands for itself, under its own key again.

    What was shown as a value that has ended meanwhile has ended with it.
    """
    merged = [one for one in (known, *_before(who, known)) if one.members]
    taken = next(
        (one for one in who.facts if one.single_valued and one.kept_key in _keys_of_members(who, merged)), None
    )
    if not merged or taken is not None:
        why = f"{taken.value!r} stands under that key" if taken else "nothing was merged into this fact"
        yield refused(who, asked, why)
        return
    for one in merged:
        alone: Sequence[Support] = [said for said in one.supports if said.fact_id in (None, one.fact_id)]
        yield FactsUnmerged(
            participant_id=who.participant_id,
            fact_id=one.fact_id,
            members=one.members,
            confidence=confidence(alone or one.supports, policy.learning.confidence),
            by=asked.by,
        )
        for member in one.members if one is not known else ():
            reason = f"{asked.by} undid the merge: {one.value!r} had ended"
            yield FactRetracted(participant_id=who.participant_id, fact_id=member, reason=reason, valid_to=one.valid_to)


def _before(who: Participant, known: Fact) -> list[Fact]:
    """What stood under the key of a fact before it, where that has one value."""
    past = (one for one in who.past if known.single_valued and one.single_valued and one.key == known.key)
    return [one for one in past if one.valid_to and not one.withdrawn_at]


def _keys_of_members(who: Participant, merged: Sequence[Fact]) -> set[str]:
    members = {id for one in merged for id in one.members}
    return {one.kept_key for one in who.every_fact if one.fact_id in members and one.single_valued}


def _by_person(
    who: Participant, asked: FactRequested, fact_id: UUID, since: datetime, policy: Policy, *, single: bool
) -> FactRecorded:
    return FactRecorded(
        participant_id=who.participant_id,
        fact_id=fact_id,
        kind=asked.kind,
        key=asked.key,
        value=asked.value,
        text=asked.text or f"{asked.key}: {asked.value}",
        single_valued=single,
        confidence=confidence([Support("human", None, None)], policy.learning.confidence),
        importance=policy.importance(asked.kind, policy.learning.importance_by_hand),
        trust="human",
        valid_from=since,
        expires_at=end_of_day(asked.valid_to, policy.zone),
        rule=f"{asked.by} said so",
    )


_ON_FACT: Mapping[str, Callable[[Participant, FactRequested, Fact, UUID, Policy], Events]] = MappingProxyType(
    {"correct": _correct, "forget": _forget, "pin": _pin, "unpin": _pin, "unmerge": _unmerge}
)


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
