"""The participants whom one command concerns, each as they stand after what was decided so far. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import ParticipantEvent
from services.learn_facts.evolve import evolve
from services.learn_facts.participant import Participant


@dataclass(frozen=True, slots=True)
class People:
    """Participants by id. `person` are those of them who are one person; under the others something rests on theirs."""

    known: Mapping[UUID, Participant]
    person: frozenset[UUID]

    @classmethod
    def of(cls, *person: Participant) -> People:
        """The addresses of one person."""
        return cls({one.participant_id: one for one in person}, frozenset(one.participant_id for one in person))

    def __getitem__(self, participant_id: UUID) -> Participant:
        return self.known[participant_id]

    def with_others(self, others: Iterable[Participant]) -> People:
        """With participants under whose address something rests on what these know."""
        return People({**self.known, **{one.participant_id: one for one in others}}, self.person)

    def after(self, events: Iterable[EventData], at: datetime) -> People:
        """As they stand once these events, recorded at `at`, are applied."""
        known = dict(self.known)
        for event in events:
            assert isinstance(event, ParticipantEvent)
            known[event.participant_id] = evolve(known[event.participant_id], event, at)
        return People(known, self.person)

    def keeper(self, participant_id: UUID, named: str) -> Participant | None:
        """Who of the same person keeps the fact of this id; None where the participant does, or nobody."""
        if any(str(one.fact_id) == named for one in self[participant_id].facts):
            return None
        others = (self[id] for id in self.person if id != participant_id)
        return next((who for who in others for one in who.every_fact if one.fact_id == id_of(named)), None)


def id_of(named: str) -> UUID | None:
    """The id that a model names; None where it is none."""
    try:
        return UUID(named)
    except ValueError:
        return None
