"""A participant after an event: the same that `load` reads once `apply` has changed the tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import reduce
from types import MappingProxyType

from schemas.events import memory as ev
from schemas.events.base import EventData
from schemas.events.merging import ParticipantMerged, ParticipantUnmerged
from schemas.events.profile import ProfileChanged
from services.learn_facts.evolve_facts import EVOLVE_FACTS, Evolve
from services.learn_facts.evolve_person import EVOLVE_PERSON
from services.learn_facts.participant import Participant


def evolve(who: Participant, event: EventData, at: datetime) -> Participant:
    """The participant once an event of theirs, recorded at `at`, is applied."""
    return _EVOLVE[type(event)](who, event, at)


def evolved(who: Participant, events: Iterable[EventData], at: datetime) -> Participant:
    """The participant once these events are applied, those of others left out."""
    own = (one for one in events if isinstance(one, ev.ParticipantEvent) and one.participant_id == who.participant_id)
    return reduce(lambda known, event: evolve(known, event, at), own, who)


def _unchanged(who: Participant, event: EventData, at: datetime) -> Participant:
    """What no decision reads: a line of a log, the graph, the profile."""
    return who


_EVOLVE: Mapping[type[EventData], Evolve] = MappingProxyType(
    {
        **EVOLVE_FACTS,
        **EVOLVE_PERSON,
        ParticipantMerged: lambda who, event, at: replace(who, alias_of=event.into),
        ParticipantUnmerged: lambda who, event, at: replace(who, alias_of=None),
        ev.FactRefused: _unchanged,
        ev.ParticipantTransitionRefused: _unchanged,
        ev.RelationRecorded: _unchanged,
        ProfileChanged: _unchanged,
    }
)
