"""A story told to the decisions alone: what each event leaves, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.replies import FactProposal
from services.learn_facts.facts.policy import STANDARD
from services.learn_facts.facts.proposals import Proposals, learn
from services.learn_facts.participant import Participant, Source
from services.learn_facts.people import People
from tests.stories.story import Story, stories

ROOT = UUID("b0000000-0000-4000-8000-000000000001")
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Heard:
    """What two mails leave, with what a model proposed of the second one."""

    story: Story
    proposed: str  # "faultless", or the mistake
    values: list[str]  # that are believed and not doubted
    decided: list[EventData]


@cache
def heard() -> list[Heard]:
    """Every story of the tests with every extraction from its second mail, faultless and faulty."""
    return list(heard_of(stories()))


def heard_of(told: Iterable[Story]) -> Iterator[Heard]:
    """Each story with every extraction from its second mail, faultless and faulty."""
    yield from (
        Heard(story, name, _believed(people), decided)
        for story in told
        for name, proposed in {"faultless": story.faultless(), **story.faulty()}.items()
        for people, decided in [_after_both(story, proposed)]
    )


def believed_after(story: Story, proposed: Sequence[FactProposal]) -> list[str]:
    """The values that are believed and not doubted after both mails."""
    return _believed(_after_both(story, proposed)[0])


def believed_alone(story: Story, proposed: Sequence[FactProposal]) -> list[str]:
    """The values that are believed after the second mail alone: nothing was known before it."""
    return _believed(_told(nobody(), story.second, proposed, 9, story.asked)[0])


def nobody() -> People:
    """Somebody of whom nothing is known."""
    return People.of(Participant(participant_id=ROOT, exists=True))


def _believed(people: People) -> list[str]:
    return [one.value for one in people[ROOT].facts if not one.stale]


def _after_both(story: Story, proposed: Sequence[FactProposal]) -> tuple[People, list[EventData]]:
    people, first = _opened(story)
    people, second = _told(people, story.second, proposed, 9, story.asked)
    return people, [*first, *second]


@cache
def _opened(story: Story) -> tuple[People, list[EventData]]:
    """The first mail: for every extraction from the second one the same."""
    return _told(nobody(), story.first, [story.opening], 1)


def _told(
    people: People, text: str, proposed: Sequence[FactProposal], on: int, asked: str = ""
) -> tuple[People, list[EventData]]:
    """`asked` is what we wrote to them before; "" for nothing."""
    at = BEGUN + timedelta(days=on)
    mail = Source(uuid5(ROOT, f"mail {on}"), uuid5(ROOT, f"thread {on}"), f"{on}@x", text, at, at, False, True)
    mail = replace(mail, our_words=(asked,) if asked else ())
    ids = [uuid5(ROOT, f"fact {on} {number}") for number in range(len(proposed))]
    decided = learn(people, Proposals(ROOT, proposed, ids, [mail], STANDARD), at)
    return people.after(decided, at), decided
