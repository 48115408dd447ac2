"""What an event makes of the facts of a participant: the same as `apply` makes of their rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from schemas.events import memory as ev
from schemas.events.base import EventData
from schemas.events.retention import MemoryExpired
from services.learn_facts.participant import Evolve, Fact, Participant
from services.memory.keys import key_of
from services.memory.support import Support


def _recorded(who: Participant, event: ev.FactRecorded, at: datetime) -> Participant:
    who = _changed(who, event.supersedes, lambda one: _superseded(one, event, at))
    facts = sorted((*who.every_fact, _new(event, at)), key=lambda one: (one.recorded_at, one.fact_id))
    who = replace(who, every_fact=tuple(facts))
    if not (event.past and event.single_valued):
        return who
    before = [one.fact_id for one in who.every_fact if _went_on(one, event)]
    return _changed(who, before, lambda one: replace(one, valid_to=event.valid_from))


def _superseded(one: Fact, event: ev.FactRecorded, at: datetime) -> Fact:
    """A fact in whose place a new one stands: it ended, or, where that corrects it, it never was so."""
    if event.corrects:
        return replace(one, superseded_at=at, superseded_by=event.fact_id, withdrawn_at=at)
    until = one.valid_to or max(one.valid_from, event.valid_from)
    return replace(one, superseded_at=at, superseded_by=event.fact_id, valid_to=until)


def _new(event: ev.FactRecorded, at: datetime) -> Fact:
    said_in = event.source_mail or event.source_reply
    return Fact(
        fact_id=event.fact_id,
        kind=event.kind,
        key=key_of(event.key, event.kind),
        kept_key=event.key,
        value=event.value,
        text=event.text,
        trust=event.trust,
        valid_from=event.valid_from,
        valid_to=event.valid_to,
        expires_at=event.expires_at,
        single_valued=event.single_valued,
        supports=(Support(event.trust, said_in, event.source_thread, event.valid_from, event.fact_id),),
        parents=tuple(sorted(event.parents)),
        recorded_at=at,
        superseded_at=at if event.past else None,
        superseded_by=event.superseded_by,
    )


def _went_on(one: Fact, late: ev.FactRecorded) -> bool:
    """Whether a past value of the key was taken to last beyond the beginning of one that came late."""
    if one.kept_key != late.key or not one.single_valued or one.fact_id == late.fact_id:
        return False
    if one.superseded_at is None or one.withdrawn_at or one.valid_to is None:
        return False
    return one.valid_from < late.valid_from < one.valid_to


def _corroborated(who: Participant, event: ev.FactCorroborated, at: datetime) -> Participant:
    said = Support(event.trust, event.source_mail, event.source_thread, event.said_at or at, event.fact_id)
    return _changed(
        who,
        [event.fact_id],
        lambda one: replace(
            one,
            supports=(*one.supports, said),
            valid_from=min(one.valid_from, event.valid_from or one.valid_from),
            trust=event.trust if one.trust == "inferred" else one.trust,
            stale=one.stale and not event.rejudged,
        ),
    )


def _retracted(who: Participant, event: ev.FactRetracted, at: datetime) -> Participant:
    return _changed(who, [event.fact_id], lambda one: _ended(one, event, at))


def _ended(one: Fact, event: ev.FactRetracted, at: datetime) -> Fact:
    """What has ended already can only be withdrawn, and that once."""
    if one.superseded_at and (event.valid_to or one.withdrawn_at):
        return one
    until = max(one.valid_from, event.valid_to or one.valid_from)
    withdrawn = one.withdrawn_at if event.valid_to else at
    return replace(one, superseded_at=one.superseded_at or at, valid_to=until, withdrawn_at=withdrawn)


def _restored(who: Participant, event: ev.FactRestored, at: datetime) -> Participant:
    def again(one: Fact) -> Fact:
        if one.withdrawn_at or one.merged_into:
            return one
        return replace(one, superseded_at=None, superseded_by=None, valid_to=None)

    return _changed(who, [event.fact_id], again)


def _marked_stale(who: Participant, event: ev.FactMarkedStale, at: datetime) -> Participant:
    return _changed(who, [event.fact_id], lambda one: replace(one, stale=True))


def _merged(who: Participant, event: ev.FactsMerged, at: datetime) -> Participant:
    current = [one.fact_id for one in who.every_fact if one.superseded_at is None and one.fact_id in event.members]
    return _changed(who, current, lambda one: replace(one, superseded_at=at, merged_into=event.fact_id))


def _unmerged(who: Participant, event: ev.FactsUnmerged, at: datetime) -> Participant:
    def alone(one: Fact) -> Fact:
        apart = {*one.apart_from, event.fact_id, *event.members} - {one.fact_id}
        return replace(one, superseded_at=None, merged_into=None, apart_from=tuple(sorted(apart)))

    members = [
        one.fact_id for one in who.every_fact if one.merged_into == event.fact_id and one.fact_id in event.members
    ]
    return _changed(who, members, alone)


def _pinned(who: Participant, event: ev.FactPinned, at: datetime) -> Participant:
    return _changed(who, [event.fact_id], lambda one: replace(one, pinned=event.pinned))


def _expired(who: Participant, event: MemoryExpired, at: datetime) -> Participant:
    return replace(who, every_fact=tuple(one for one in who.every_fact if one.fact_id not in event.fact_ids))


def _changed(who: Participant, ids: Collection[UUID], change: Callable[[Fact], Fact]) -> Participant:
    return replace(who, every_fact=tuple(change(one) if one.fact_id in ids else one for one in who.every_fact))


EVOLVE: Mapping[type[EventData], Evolve] = MappingProxyType(
    {
        ev.FactRecorded: _recorded,
        ev.FactCorroborated: _corroborated,
        ev.FactRetracted: _retracted,
        ev.FactRestored: _restored,
        ev.FactMarkedStale: _marked_stale,
        ev.FactsMerged: _merged,
        ev.FactsUnmerged: _unmerged,
        ev.FactPinned: _pinned,
        MemoryExpired: _expired,
    }
)
