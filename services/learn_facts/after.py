"""A participant after a decision: what the next one is decided on, without reading the tables again. Pure.

It says the same as `load` would (tests/integration/test_memory_updates); None where only the tables can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, FactRefused
from services.learn_facts.participant import KnownFact, Participant, PastFact
from services.memory.support import Support


def after(who: Participant, decided: Iterable[EventData], now: datetime) -> Participant | None:
    """The participant once these events are applied, recorded at `now`."""
    for event in decided:
        if isinstance(event, FactRefused):
            continue
        if not isinstance(event, FactRecorded) or event.past:
            return None
        who = _with(who, event, now)
    return who


def _with(who: Participant, event: FactRecorded, now: datetime) -> Participant:
    ended = [one for one in who.facts if one.fact_id in event.supersedes]
    kept = [one for one in who.facts if one.fact_id not in event.supersedes]
    past = [*who.past, *(_ended(one, event, now) for one in ended)]
    return replace(
        who,
        facts=tuple(sorted((*kept, _known(event, now)), key=lambda one: (one.recorded_at, one.fact_id))),
        past=tuple(sorted(past, key=lambda one: (one.valid_from, one.fact_id))),
    )


def _known(event: FactRecorded, now: datetime) -> KnownFact:
    said_in = event.source_mail or event.source_reply
    support = Support(event.trust, said_in, event.source_thread, event.valid_from, event.fact_id)
    return KnownFact(
        fact_id=event.fact_id,
        kind=event.kind,
        key=event.key,
        value=event.value,
        trust=event.trust,
        valid_from=event.valid_from,
        single_valued=event.single_valued,
        supports=(support,),
        text=event.text,
        expires_at=event.expires_at,
        parents=event.parents,
        recorded_at=now,
    )


def _ended(one: KnownFact, event: FactRecorded, now: datetime) -> PastFact:
    return PastFact(
        fact_id=one.fact_id,
        key=one.key,
        value=one.value,
        valid_from=one.valid_from,
        valid_to=None if event.corrects else max(one.valid_from, event.valid_from),
        superseded_by=event.fact_id,
        withdrawn_at=now if event.corrects else None,
        single_valued=one.single_valued,
        supports=tuple(support for support in one.supports if support.fact_id == one.fact_id),
        members=one.members,
    )
