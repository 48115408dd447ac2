"""No mistake of a model makes the memory believe a false value, and what is true is still learned."""

from __future__ import annotations

import pytest

from schemas.events.memory import FactsMerged
from schemas.events.replies import FactProposal
from services.learn_facts.facts.values import same_value
from tests.stories.driving import believed_alone, heard
from tests.stories.story import Story, stories

STORIES = stories()


def verdict(story: Story, name: str, values: list[str]) -> list[str]:
    """What is wrong with what is believed, in words."""
    wrong = [f"believes {one!r}" for one in values if any(same_value(one, false) for false in story.false)]
    if len(values) > 1:
        wrong.append(f"believes {values}")
    learns = name in ("faultless", "another key", "a loose quote", "both, the old one first", "both, the old one last")
    wanted = story.true if learns or story.what in ("keeps", "same") else None
    if wanted is not None and not any(same_value(one, wanted) for one in values):
        wrong.append(f"does not believe {wanted!r}")
    return [f"{story.name}, {name}: {one}: {story.second}" for one in wrong]


@pytest.mark.slow
def test_no_mistake_makes_a_false_fact_current() -> None:
    """After two mails no false value is believed, whatever plausible mistake the model made, and the true one is."""
    wrong = [line for one in heard() for line in verdict(one.story, one.proposed, one.values)]
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong])


def test_no_story_of_an_update_or_a_mistake_merges_anything() -> None:
    """Not one of the stories of other values, questions, denials and forged words, faultless or not."""
    merging = [one for one in heard() if any(isinstance(event, FactsMerged) for event in one.decided)]
    assert [f"{one.story.name}, {one.proposed}" for one in merging] == []


def test_no_mistake_is_believed_where_nothing_stood() -> None:
    """A mail that asserts nothing of its author leaves nothing believed of somebody of whom nothing was known, either."""
    wrong = [
        f"{story.name}, {name}: {story.second}"
        for story in STORIES
        if story.what in ("keeps", "unclear")
        for name, proposals in story.faulty().items()
        for one in believed_alone(story, proposals)
        if any(same_value(one, false) for false in story.false)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong])


def test_a_key_outside_the_table_was_believed_where_nothing_was_said_plainly() -> None:
    """Under whatever name of its key: what is told of somebody else, of the past, or scoffed at, is not so of the author."""
    told = [
        ("tariff of ours", "Premium", "Von wegen Premium! Davon kann bei mir keine Rede sein.", "Premium"),
        ("localité", "Lille", "Il fut un temps où notre bureau était à Lille.", "notre bureau était à Lille"),
        ("numero", "333 9988", "Il numero di mia figlia è 333 9988, chiamate lei solo in emergenza.", "è 333 9988"),
    ]
    for key, value, mail, quote in told:
        kind = "contact_info" if key == "numero" else "customer_info"
        proposed = FactProposal(op="add", kind=kind, key=key, value=value, quote=quote)
        story = Story("outside", "keeps", key, key, "", "", value, mail, quote)
        assert believed_alone(story, [proposed]) == [], mail


def test_there_are_enough_stories() -> None:
    """At least 500, each with at least three faulty extractions."""
    assert len(STORIES) >= 500
    assert all(len(one.faulty()) >= 3 for one in STORIES)
