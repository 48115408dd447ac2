"""What a proposal names of the facts that the same person has under another address.

A DELETE ends such a fact where it is kept. An UPDATE ends it there and records the new one with whose mail says it, so
that people who are taken apart keep their own. What a fact is derived from may be kept anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, FactRetracted
from schemas.events.replies import FactProposal
from services.core.bus.unit import Unit
from services.learn_facts.load import load
from services.learn_facts.merging import keeper_of
from services.learn_facts.participant import Participant
from services.learn_facts.precedence import objection_to_ending


async def keeper(unit: Unit, who: Participant, named: str) -> Participant | None:
    """Who of the same person keeps the fact of this id, held; None where they do themselves, or nobody does."""
    if any(str(one.fact_id) == named for one in who.facts):
        return None
    try:
        fact_id = UUID(named)
    except ValueError:
        return None
    found = await keeper_of(unit, who.participant_id, fact_id)
    return await load(unit, found) if found != who.participant_id else None


async def believed(unit: Unit, who: Participant, named: Iterable[str]) -> frozenset[str]:
    """Which of these ids are facts that the same person is believed to have under another address."""
    found: set[str] = set()
    for one in named:
        other = await keeper(unit, who, one)
        found |= {str(fact.fact_id) for fact in other.facts if str(fact.fact_id) == one} if other else set()
    return frozenset(found)


def replaced(other: Participant, proposal: FactProposal, decided: Sequence[EventData]) -> FactRetracted | str:
    """The end of the fact that an UPDATE names, kept by `other`, by what was recorded instead.

    "" where nothing was, and where that is so for a while only (`rivals`). Else why it does not end, in words.
    """
    new = next((one for one in decided if isinstance(one, FactRecorded) and not one.past), None)
    named = next((one for one in other.facts if str(one.fact_id) == proposal.fact_id), None)
    if new is None or named is None or (new.expires_at and not named.expires_at):
        return ""
    return objection_to_ending(named, new.trust, new.valid_from) or FactRetracted(
        participant_id=other.participant_id,
        fact_id=named.fact_id,
        reason="the newer value replaces the older",
        source_mail=new.source_mail,
        valid_to=new.valid_from,
    )
