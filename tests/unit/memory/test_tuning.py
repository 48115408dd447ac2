"""What an operator sets of recall reaches the search and the judgement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from services.core.settings import RecallSettings
from services.core.settings.memory import FloorSettings
from services.memory.candidates import SearchSettings
from services.memory.cue import FACT_CUES
from services.memory.ranking import HALF_LIVES, RankingSettings
from services.memory.tuning import tuned


def test_without_a_word_recall_is_as_it_was_measured() -> None:
    """The defaults of the settings are those of the fitted judgement and of the search."""
    plain = tuned(RecallSettings())
    assert (plain.search, plain.cue, plain.best) == (SearchSettings(), FACT_CUES, 20)


def test_floors_and_breadth_reach_the_search() -> None:
    """Each floor is its factor's, and a workspace is searched as widely as is said."""
    said = tuned(RecallSettings(breadth=900, rare_matches=50, brought_up=7, floors=FloorSettings(recency=0.1)))
    assert (said.search.breadth, said.search.cap, said.brought_up, said.all_candidates) == (900, 50, 7, 300)
    assert said.search.ranking == replace(RankingSettings(), recency_floor=0.1)


def test_what_is_said_reaches_search_and_judgement() -> None:
    """An operator's own kind has a half-life, beside the standard ones; thresholds and counts are taken over."""
    said = tuned(RecallSettings(whole_up_to=10, best=5, sure_from=0.99, half_life_days={"class": 30}))
    assert said.search.ranking.half_lives == {**HALF_LIVES, "class": 30}
    assert (said.search.whole_up_to, said.best, said.cue.sure_from, said.cue.related) == (
        10,
        5,
        0.99,
        FACT_CUES.related,
    )


@pytest.mark.parametrize("wrong", [{"sure_from": 0.3}, {"half_life_days": {"note": 0}}, {"candidates": 0}, {"best": 0}])
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    """A bell above certainty, a half-life of nothing and an empty search are said to be wrong, by name."""
    with pytest.raises(ValidationError):
        RecallSettings.model_validate(wrong)
