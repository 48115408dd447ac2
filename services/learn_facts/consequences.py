"""Pure decisions that follow from decisions: derived facts go stale, near-duplicates become one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactMarkedStale, FactRecorded, FactRetracted, FactsMerged
from services.core.memory.support import confidence
from services.learn_facts.participant import KnownFact, Participant

Similarity = Callable[[KnownFact, KnownFact], float]

ALIKE = 0.85  # cosine from which two sentences that agree in all else say the same
OCCURRENCES = frozenset({"event", "interaction", "resolution", "action"})  # twice is not once

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]*")
_NOT = re.compile(r"\b(?:not|no|never|none|nobody|without|cannot|stopped|cancel\w*)\b|n['’]t\b", re.IGNORECASE)


def stale(who: Participant, decided: Iterable[EventData]) -> Iterator[FactMarkedStale]:
    """The facts that were derived, directly or through others, from what has just been replaced or taken back."""
    changed = [(parent, reason) for event in decided for parent, reason in _ended(event)]
    seen: set[UUID] = {parent for parent, _ in changed}
    while changed:
        parent, reason = changed.pop(0)
        for child in who.facts:
            if parent in child.parents and child.fact_id not in seen:
                seen.add(child.fact_id)
                changed.append((child.fact_id, "a fact that it was derived from is stale"))
                if not child.stale:
                    yield FactMarkedStale(
                        participant_id=who.participant_id, fact_id=child.fact_id, parent_id=parent, reason=reason
                    )


def alike(who: Participant, fact_id: UUID) -> list[KnownFact]:
    """The facts that may say the same as this one, itself included, oldest first; none where it is believed no more."""
    new = next((one for one in who.facts if one.fact_id == fact_id), None)
    return [one for one in who.facts if new and mergeable(new) and (one is new or agree(one, new))]


def stands_alone(who: Participant, recorded: FactRecorded) -> bool:
    """Whether no other fact can say the same as one that was just recorded."""
    return recorded.single_valued or recorded.past or len(alike(who, recorded.fact_id)) < 2


def merge(who: Participant, fact_id: UUID, similarity: Similarity) -> FactsMerged | None:
    """The fact and the oldest other that says the same become one, the older of the two; None where nothing does."""
    facts = alike(who, fact_id)
    for kept, gone in combinations(facts, 2):
        if fact_id not in (kept.fact_id, gone.fact_id):
            continue
        close = similarity(kept, gone)
        if close >= ALIKE:
            return FactsMerged(
                participant_id=who.participant_id,
                fact_id=kept.fact_id,
                members=(gone.fact_id,),
                confidence=confidence([*kept.supports, *gone.supports]),
                reason=f"says the same in other words (similarity {close:.2f}): {gone.text!r}",
            )
    return None


def mergeable(fact: KnownFact) -> bool:
    """Whether a fact may be merged at all: a key's one value, a person's word and an occurrence stand alone."""
    return not (fact.single_valued or fact.trust == "human" or fact.pinned or fact.kind in OCCURRENCES)


def agree(one: KnownFact, other: KnownFact) -> bool:
    """Whether two facts may say the same: kind, key, trust class, end, numbers, names and polarity are equal.

    What a person took apart stays apart.
    """
    kept_apart = one.fact_id in other.apart_from or other.fact_id in one.apart_from
    return not kept_apart and mergeable(one) and mergeable(other) and _signature(one) == _signature(other)


def _signature(fact: KnownFact) -> tuple[object, ...]:
    told = f"{fact.text}\n{fact.value}"
    return (
        fact.kind,
        fact.key,
        fact.trust == "ours",
        fact.expires_at,
        frozenset(_NUMBER.findall(told)),
        frozenset(name.casefold() for name in _NAME.findall(fact.text)),
        bool(_NOT.search(told)),
    )


def _ended(event: EventData) -> list[tuple[UUID, str]]:
    if isinstance(event, FactRecorded):
        return [(one, f"a fact that it was derived from is now {event.value!r}") for one in event.supersedes]
    if isinstance(event, FactRetracted):
        return [(event.fact_id, "a fact that it was derived from was taken back")]
    return []
