"""A story told to the decisions alone: what each event leaves, without a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import FactCorroborated, FactMarkedStale, FactRecorded, FactRetracted
from schemas.events.replies import FactProposal
from services.learn_facts import proposals
from services.learn_facts.after import after
from services.learn_facts.participant import Participant, Source
from services.learn_facts.policy import STANDARD
from services.memory.support import Support
from tests.stories.story import Story

ROOT = UUID("b0000000-0000-4000-8000-000000000001")
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def believed(story: Story, proposed: Iterable[FactProposal]) -> list[str]:
    """The values that are believed and not doubted after both mails of a story."""
    who = Participant(participant_id=ROOT, exists=True)
    who = _told(who, story.first, [story.opening], 1)
    who = _told(who, story.second, proposed, 9)
    return [one.value for one in who.facts if not one.stale]


def _told(who: Participant, text: str, proposed: Iterable[FactProposal], on: int) -> Participant:
    at = BEGUN + timedelta(days=on)
    mail = Source(uuid5(ROOT, f"mail {on}"), uuid5(ROOT, f"thread {on}"), f"{on}@x", text, at, at, False, True)
    for number, proposal in enumerate(proposed):
        cited = proposals.cited(proposal, [mail])
        fact_id = uuid5(ROOT, f"fact {on} {number}")
        decided = proposals.settled(who, proposal, cited, fact_id, STANDARD, turn=[mail])
        for event in decided:
            who = _with(who, event, at)
    return who


def _with(who: Participant, event: EventData, at: datetime) -> Participant:
    """The participant once an event is applied."""
    match event:
        case FactRecorded() if not event.past:
            found = after(who, [event], at)
            assert found is not None
            return found
        case FactMarkedStale():
            return _changed(who, event.fact_id, stale=True)
        case FactCorroborated():
            one = next(fact for fact in who.facts if fact.fact_id == event.fact_id)
            support = Support(event.trust, event.source_mail, event.source_thread, event.said_at, event.fact_id)
            return _changed(
                who, event.fact_id, supports=(*one.supports, support), stale=one.stale and not event.rejudged
            )
        case FactRetracted():
            return replace(who, facts=tuple(one for one in who.facts if one.fact_id != event.fact_id))
        case _:
            return who


def _changed(who: Participant, fact_id: UUID, **given: Any) -> Participant:
    changed = (replace(one, **given) if one.fact_id == fact_id else one for one in who.facts)
    return replace(who, facts=tuple(changed))
