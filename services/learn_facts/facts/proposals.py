"""A model's proposals, one after the other: each is decided on what the ones before it left. Pure.

A proposal may name a fact that the same person has under another address. A DELETE ends such a fact where it is kept.
An UPDATE ends it there and records the new one with whose mail says it, so that people who are taken apart keep their
own. What a fact is derived from may be kept anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, FactRetracted
from schemas.events.replies import FactProposal
from services.learn_facts.facts.conflicts import objection_to_ending
from services.learn_facts.facts.consequences import joined, with_consequences
from services.learn_facts.facts.decide import propose
from services.learn_facts.facts.events import refused
from services.learn_facts.facts.policy import Policy
from services.learn_facts.participant import Participant, Source
from services.learn_facts.people import People
from services.memory.quotes import find_quote

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Proposals:
    """What a model proposes to remember of a participant, what may be cited for it, and an id for each new fact."""

    participant_id: UUID
    facts: Sequence[FactProposal]
    fact_ids: Sequence[UUID]
    sources: Sequence[Source]
    policy: Policy


def learn(people: People, proposed: Proposals, now: datetime) -> list[EventData]:
    """What becomes of each proposal, what follows from it, and what it becomes one with."""
    decided: list[EventData] = []
    for proposal, fact_id in zip(proposed.facts, proposed.fact_ids, strict=True):
        events = _learn(people, proposed, proposal, fact_id, now)
        people = people.after(events, now)
        also = list(joined(people[proposed.participant_id], events, proposed.policy.learning))
        people = people.after(also, now)
        decided += [*events, *also]
    return decided


def _learn(
    people: People, proposed: Proposals, proposal: FactProposal, fact_id: UUID, now: datetime
) -> list[EventData]:
    who, source = people[proposed.participant_id], cited(proposal, proposed.sources)
    given = proposal, source, fact_id, proposed.policy
    other = people.keeper(who.participant_id, proposal.fact_id) if proposal.op != "add" else None
    if other is not None and proposal.op == "delete":
        return with_consequences(people, other, decided_or_refused(other, *given, turn=proposed.sources), now)
    decided = decided_or_refused(who, *given, _believed_elsewhere(people, who, proposal), proposed.sources)
    over = _replaced(other, proposal, decided) if other is not None else ""
    if isinstance(over, str):
        return with_consequences(people, who, [refused(who, proposal, over)] if over else decided, now)
    assert other is not None
    events = with_consequences(people, who, decided, now)
    people = people.after(events, now)
    return [*events, *with_consequences(people, people[other.participant_id], [over], now)]


def cited(proposal: FactProposal, sources: Sequence[Source]) -> Source | None:
    """The mail that a proposal quotes, by its id or by its words."""
    if proposal.mail_id is not None:
        return next((one for one in sources if one.mail_id == proposal.mail_id), None)
    return next((one for one in sources if find_quote(proposal.quote, one.text)), None)


def named_by(proposal: FactProposal) -> tuple[str, ...]:
    """The facts that a proposal changes, or was concluded from, as the model names them."""
    return proposal.derived_from if proposal.op == "add" else (proposal.fact_id, *proposal.derived_from)


def decided_or_refused(
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
        return list(propose(who, proposal, source, fact_id, policy, known, turn))
    except (ArithmeticError, LookupError, ValueError) as error:
        log.warning("a proposal could not be decided", error=type(error).__name__)
        return [refused(who, proposal, f"it cannot be decided: {type(error).__name__}")]


def _believed_elsewhere(people: People, who: Participant, proposal: FactProposal) -> frozenset[str]:
    """Which of the facts that it was concluded from the same person is believed to have under another address."""
    keepers = ((named, people.keeper(who.participant_id, named)) for named in proposal.derived_from)
    return frozenset(
        named for named, other in keepers if other and any(str(one.fact_id) == named for one in other.facts)
    )


def _replaced(other: Participant, proposal: FactProposal, decided: Sequence[EventData]) -> FactRetracted | str:
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
