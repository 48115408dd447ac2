"""Pure decisions about participants that are one person: merged, or taken apart, or refused in words.

A merge moves nothing. Each participant keeps what was learned under their own address; readers put it together, and
where both have a value the typed policy says which one stands. So undoing it gives back what was there before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactRefused
from schemas.events.merging import ParticipantMerged, ParticipantMergeRequested, ParticipantUnmerged
from services.learn_facts.forms import same_value
from services.learn_facts.participant import KnownFact, Participant
from services.learn_facts.precedence import RANK


def merge(
    who: Participant,
    into: Participant,
    asked: ParticipantMergeRequested,
    together: Collection[UUID],
    stands: UUID | None,
) -> EventData:
    """The merge, or why not.

    `together` are those who are one person with `into` already, `stands` is whom the participant is merged into.
    """
    if who.participant_id == into.participant_id:
        return refused(asked, "nobody is merged with themselves")
    if not (who.exists and into.exists):
        return refused(asked, "there is no such participant")
    if who.participant_id in together:
        return refused(asked, "they are one person already")
    if stands is not None:
        return refused(asked, f"the participant is merged into {stands}; take them apart first")
    settled = tuple(_settled(one, other) for one, other in _rivals(who.facts, into.facts))
    return ParticipantMerged(
        participant_id=who.participant_id, into=into.participant_id, by=asked.by, reason=asked.reason, settled=settled
    )


def unmerge(asked: ParticipantMergeRequested, stands: UUID | None) -> EventData:
    """The end of a merge, or why not. `stands` is whom the participant is merged into."""
    if stands != asked.into:
        return refused(asked, "they are not merged" if stands is None else f"the participant is merged into {stands}")
    return ParticipantUnmerged(participant_id=asked.participant_id, into=asked.into, by=asked.by, reason=asked.reason)


def refused(asked: ParticipantMergeRequested, reason: str) -> FactRefused:
    """It does not hold."""
    return FactRefused(
        participant_id=asked.participant_id, op=asked.op, kind="", key="", value=str(asked.into), reason=reason
    )


def _rivals(ours: Collection[KnownFact], theirs: Collection[KnownFact]) -> Iterator[tuple[KnownFact, KnownFact]]:
    for one in ours:
        for other in theirs:
            if one.key == other.key and one.single_valued and other.single_valued:
                yield one, other


def _settled(one: KnownFact, other: KnownFact) -> str:
    """How the readers' rule (`outranked` of the database) settles two values, without the values."""
    if same_value(one.value, other.value):
        return f"{one.key}: both say the same"
    if RANK[one.trust] != RANK[other.trust]:
        first = max(one, other, key=lambda fact: RANK[fact.trust])
        return f"{one.key}: the {first.trust} one stands"
    return f"{one.key}: the newer one stands"
