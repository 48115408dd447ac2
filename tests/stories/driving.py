"""A story told to the decisions alone: what each event leaves, without a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID, uuid5

from schemas.events.replies import FactProposal
from services.learn_facts.evolve import evolve
from services.learn_facts.facts import proposals
from services.learn_facts.facts.policy import STANDARD
from services.learn_facts.participant import Participant, Source
from tests.stories.story import Story

ROOT = UUID("b0000000-0000-4000-8000-000000000001")
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def believed(story: Story, proposed: Iterable[FactProposal]) -> list[str]:
    """The values that are believed and not doubted after both mails of a story."""
    who = _told(_opened(story), story.second, proposed, 9, story.asked)
    return [one.value for one in who.facts if not one.stale]


def believed_alone(story: Story, proposed: Iterable[FactProposal]) -> list[str]:
    """The same after the second mail alone: nothing was known before it."""
    who = _told(Participant(participant_id=ROOT, exists=True), story.second, proposed, 9, story.asked)
    return [one.value for one in who.facts if not one.stale]


@cache
def _opened(story: Story) -> Participant:
    """Who wrote the first mail: for every extraction from the second one the same."""
    return _told(Participant(participant_id=ROOT, exists=True), story.first, [story.opening], 1)


def _told(who: Participant, text: str, proposed: Iterable[FactProposal], on: int, asked: str = "") -> Participant:
    """`asked` is what we wrote to them before; "" for nothing."""
    at = BEGUN + timedelta(days=on)
    mail = Source(uuid5(ROOT, f"mail {on}"), uuid5(ROOT, f"thread {on}"), f"{on}@x", text, at, at, False, True)
    mail = replace(mail, our_words=(asked,) if asked else ())
    for number, proposal in enumerate(proposed):
        cited = proposals.cited(proposal, [mail])
        fact_id = uuid5(ROOT, f"fact {on} {number}")
        decided = proposals.settled(who, proposal, cited, fact_id, STANDARD, turn=[mail])
        for event in decided:
            who = evolve(who, event, at)
    return who
