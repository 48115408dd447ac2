"""What nobody knows to have been seen decides no comparison."""

from __future__ import annotations

from dataclasses import replace

from services.operations.replay.difference import Difference
from services.operations.replay.result import Result, agreed

FACTS = Difference(0, "memory.loaded.v1", "context: facts", "one", "two")
BRIEF = Difference(0, "memory.loaded.v1", "context: brief", "a", "b")


def result(*differences: Difference, error: str = "") -> Result:
    return Result(name="case", differences=differences, error=error)


def test_only_what_differs_both_ways_is_a_difference() -> None:
    """A layer that one of the two plays made as it was then is as it was then."""
    assert agreed(result(FACTS, BRIEF), result(BRIEF)).differences == (BRIEF,)
    assert agreed(result(FACTS), result(BRIEF)).code == 0


def test_two_events_of_one_type_are_two() -> None:
    """What differs in the first of them one way, and in the second the other way, differs in neither both ways."""
    assert agreed(result(FACTS), result(replace(FACTS, place=1))).code == 0
    assert agreed(result(FACTS, replace(FACTS, place=1)), result(FACTS)).differences == (FACTS,)


def test_an_error_of_one_way_leaves_the_word_to_the_other() -> None:
    """A play that could not be finished says nothing about the other."""
    assert agreed(result(FACTS), result(error="gap")).differences == (FACTS,)
    assert agreed(result(error="gap"), result()).code == 0
    assert agreed(result(error="gap"), result(error="gap")).code == 2
