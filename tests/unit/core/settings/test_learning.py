"""The numbers of learning and recall: what makes no sense is said with its name, before anything starts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.core.settings import EmbeddingSettings, LearningSettings, RecallSettings


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"summary_words": 0}, "summary_words"),
        ({"brief_words": 20_000}, "brief_words"),
        ({"quote_characters": 301}, "quote_characters"),
        ({"date_before_days": -1}, "date_before_days"),
        ({"date_after_hours": 48}, "date_after_hours"),
        ({"date_after_hours": float("nan")}, "date_after_hours"),
        ({"alike_from": 0.1}, "alike_from"),
        ({"importance_by_hand": 11}, "importance_by_hand"),
        ({"confidence": {"human": 1.0}}, "confidence.human"),
        ({"confidence": {"further_message": 1.0}}, "confidence.further_message"),
        ({"confidence": {"inferred": 0.9}}, "has to rise from inferred over authenticated to human"),
        ({"confidence": {"stranger": 0.5}}, "confidence.stranger"),
    ],
)
def test_numbers_of_learning_that_cannot_be_are_refused(wrong: dict[str, Any], name: str) -> None:
    """A quote that the table cannot hold, a certainty that nothing can shake, a stranger who is believed: no."""
    with pytest.raises(ValidationError, match=name):
        LearningSettings.model_validate(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"breadth": 2000},
        {"breadth": 0},
        {"rare_matches": 0},
        {"brought_up": 0},
        {"questions": 0},
        {"floors": {"recency": 1.5}},
        {"floors": {"mood": 0.5}},
        {"unconfirmed_below": -0.1},
    ],
)
def test_numbers_of_recall_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    """More than pgvector's index keeps in view, an empty search, a floor above the score: no."""
    with pytest.raises(ValidationError):
        RecallSettings.model_validate(wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "https://api.example/embeddings"}, "say in embeddings.model"),
        ({"model": "voyage-3"}, "embeddings.url is empty, so the local model is used"),
        ({"dimensions": 1024}, "embeddings.url is empty, so the local model is used"),
        ({"url": "https://api.example/embeddings", "model": "m", "dimensions": 4001}, "4000"),
    ],
)
def test_an_embedder_that_is_none_is_refused(wrong: dict[str, Any], said: str) -> None:
    """A name without an endpoint, an endpoint without a name and vectors that no index holds are said at the start."""
    with pytest.raises(ValidationError, match=said):
        EmbeddingSettings.model_validate(wrong)
