"""A participant after an event: the same that `load` reads once `apply` has changed the tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from schemas.events import memory as ev
from schemas.events.base import EventData
from schemas.events.merging import ParticipantMerged, ParticipantUnmerged
from schemas.events.profile import ProfileChanged
from services.learn_facts.facts import evolve as facts
from services.learn_facts.participant import Evolve, Participant
from services.learn_facts.person import evolve as person


def evolve(who: Participant, event: EventData, at: datetime) -> Participant:
    """The participant once an event of theirs, recorded at `at`, is applied."""
    return _EVOLVE[type(event)](who, event, at)


def _unchanged(who: Participant, event: EventData, at: datetime) -> Participant:
    """What no decision reads: a line of a log, the graph, the profile."""
    return who


_EVOLVE: Mapping[type[EventData], Evolve] = MappingProxyType(
    {
        **facts.EVOLVE,
        **person.EVOLVE,
        ParticipantMerged: lambda who, event, at: replace(who, alias_of=event.into),
        ParticipantUnmerged: lambda who, event, at: replace(who, alias_of=None),
        ev.FactRefused: _unchanged,
        ev.ParticipantTransitionRefused: _unchanged,
        ev.RelationRecorded: _unchanged,
        ProfileChanged: _unchanged,
    }
)
