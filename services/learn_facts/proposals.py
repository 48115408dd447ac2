"""A model's proposals, one after the other: each is decided on what the ones before it left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import structlog

from schemas.events.base import EventData
from schemas.events.replies import FactProposal
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.learn_facts import consequences, decide_facts, elsewhere
from services.learn_facts.after import after
from services.learn_facts.apply_facts import SQL
from services.learn_facts.fact_events import refused
from services.learn_facts.load import load
from services.learn_facts.participant import Participant, Source
from services.learn_facts.policy import Policy, extended
from services.memory.quotes import find_quote

log = structlog.get_logger(__name__)


async def learn(
    unit: Unit, who: Participant, proposals: Iterable[FactProposal], sources: Sequence[Source], policy: Policy
) -> Participant:
    """Decide on each proposal, and on what follows from it; the participant as they are then."""
    for number, proposal in enumerate(proposals):
        source, fact_id = cited(proposal, sources), unit.id_for(f"fact/{number}")
        other = await elsewhere.keeper(unit, who, proposal.fact_id) if proposal.op != "add" else None
        if other is not None and proposal.op == "delete":
            await record_all(unit, other, settled(other, proposal, source, fact_id, policy, turn=sources))
            continue
        known = await elsewhere.believed(unit, who, proposal.derived_from)
        decided = settled(who, proposal, source, fact_id, policy, known, sources)
        ended = elsewhere.replaced(other, proposal, decided) if other is not None else ""
        if isinstance(ended, str) and ended:
            decided = [refused(who, proposal, ended)]
        recorded = await record_all(unit, who, decided)
        if other is not None and not isinstance(ended, str):
            await record_all(unit, other, [ended])
        who = after(who, recorded, unit.now) or await load(unit, who.participant_id)
    return who


def cited(proposal: FactProposal, sources: Sequence[Source]) -> Source | None:
    """The mail that a proposal quotes, by its id or by its words."""
    if proposal.mail_id is not None:
        return next((one for one in sources if one.mail_id == proposal.mail_id), None)
    return next((one for one in sources if find_quote(proposal.quote, one.text)), None)


def settled(
    who: Participant,
    proposal: FactProposal,
    source: Source | None,
    fact_id: UUID,
    policy: Policy,
    known: frozenset[str] = frozenset(),
    turn: Sequence[Source] = (),
) -> Sequence[EventData]:
    """What becomes of one proposal; one that cannot be decided is refused, and costs itself alone.

    `known`: ids of facts of the same person under other addresses, from which one may be derived.
    """
    try:
        return list(decide_facts.propose(who, proposal, source, fact_id, policy, known, turn))
    except (ArithmeticError, LookupError, ValueError) as error:
        log.warning("a proposal could not be decided", error=type(error).__name__)
        return [refused(who, proposal, f"it cannot be decided: {type(error).__name__}")]


async def record_all(unit: Unit, who: Participant, decided: Sequence[EventData]) -> Sequence[EventData]:
    """Record what was decided, and what follows from it for the facts that were derived; all of it that is `who`'s."""
    everything = (*decided, *consequences.stale(who, decided, unit.now))
    for event in everything:
        await unit.record(event)
    for participant_id in await _resting_elsewhere(unit, who, consequences.ended(decided)):
        for stale in consequences.stale(await load(unit, participant_id), decided, unit.now):
            await unit.record(stale)
    return everything


async def _resting_elsewhere(unit: Unit, who: Participant, ended: Sequence[UUID]) -> list[UUID]:
    """Under which other addresses something was derived from what has ended."""
    if not ended:
        return []
    args = {"workspace": unit.workspace, "participant_id": who.participant_id, "parents": ended}
    return [row["participant_id"] for row in await unit.all(SQL.resting_elsewhere, **args)]


def policy_of(work: Work[Any], inbox: str) -> Policy:
    """The tables and the zone of a mailbox; the standard ones for a mailbox that is no longer there."""
    settings = work.app.settings
    known = settings.known_inbox(inbox)
    hours = (known and known.office_hours) or settings.office_hours
    return extended(*([known.memory] if known else []), learning=settings.learning, zone=hours.zone)


def policy_of_app(work: Work[Any]) -> Policy:
    """The tables of all mailboxes together, for what a person here asks: a participant is of every mailbox."""
    settings = work.app.settings
    tables = (one.memory for one in settings.inboxes)
    return extended(*tables, learning=settings.learning, zone=settings.office_hours.zone)
