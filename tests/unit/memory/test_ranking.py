from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from services.memory.periods import Window
from services.memory.ranking import RankingSettings, final_score, nearness, recency, timely


@dataclass(frozen=True)
class Standing:
    kind: str
    importance: float
    weight: float
    confidence: float
    pinned: bool
    valid_from: datetime
    said_at: datetime | None = None

    @property
    def last_said_at(self) -> datetime:
        return self.said_at or self.valid_from


NOW = datetime(2026, 3, 1, tzinfo=UTC)
SETTINGS = RankingSettings()
NOTE = Standing(kind="note", importance=0.5, weight=1.0, confidence=0.5, pinned=False, valid_from=NOW)


def aged(days: float, **changes: object) -> Standing:
    return replace(NOTE, valid_from=NOW - timedelta(days=days), **changes)


@pytest.mark.parametrize("kind", [*SETTINGS.half_lives, "made up by an operator"])
def test_recency_halves_with_each_half_life(kind):
    """After one half-life of its kind a fact's recency is one half, after two a quarter."""
    half_life = SETTINGS.half_lives.get(kind, SETTINGS.default_half_life)
    assert recency(aged(half_life, kind=kind), NOW, SETTINGS) == pytest.approx(0.5)
    assert recency(aged(2 * half_life, kind=kind), NOW, SETTINGS) == pytest.approx(0.25)


def test_recency_counts_from_when_it_was_last_said():
    """A fact that is said again and again is as recent as its last support, not as its first mention."""
    assert recency(aged(700, said_at=NOW), NOW, SETTINGS) == 1.0


def test_pinned_facts_do_not_decay():
    """A pinned fact is as recent after ten years as on its first day."""
    assert recency(aged(3650, pinned=True), NOW, SETTINGS) == 1.0


def test_what_is_yet_to_come_does_not_decay():
    """A fact that becomes true tomorrow is not older than now."""
    assert recency(aged(-1), NOW, SETTINGS) == 1.0


@pytest.mark.parametrize(
    "better",
    [replace(NOTE, importance=0.9), replace(NOTE, confidence=0.9), replace(NOTE, weight=1.2)],
)
def test_each_factor_raises_the_score(better):
    """Of two equally relevant facts, the more important, the surer or the heavier one comes first."""
    assert final_score(0.5, better, NOW, None, SETTINGS) > final_score(0.5, NOTE, NOW, None, SETTINGS)


def test_older_facts_score_lower():
    """Of two facts alike in all else, the newer comes first."""
    assert final_score(0.5, aged(100), NOW, None, SETTINGS) < final_score(0.5, NOTE, NOW, None, SETTINGS)


def test_floors_keep_one_weak_factor_from_burying_the_answer():
    """A very relevant, old, doubtful fact still beats a fresh, certain one that has little to do with the question."""
    old = aged(3000, confidence=0.1, importance=0.1)
    fresh = replace(NOTE, confidence=1.0, importance=1.0)
    assert final_score(1.0, old, NOW, None, SETTINGS) > final_score(0.1, fresh, NOW, None, SETTINGS)


def test_without_any_relevance_the_fact_itself_decides():
    """Where a query says nothing (all hits alike), the newer and more important fact still comes first."""
    assert final_score(0.0, NOTE, NOW, None, SETTINGS) > final_score(0.0, aged(100), NOW, None, SETTINGS) > 0


def test_a_window_favours_what_began_within_it():
    """Asked for last month, a fact of last month beats the same one of today or of last year."""
    window = Window(NOW - timedelta(days=28), NOW)
    scores = [final_score(0.5, aged(days), NOW, window, SETTINGS) for days in (10, -5, 365)]
    assert scores[0] == max(scores)
    assert scores[2] == min(scores)


def test_what_answers_is_nearest_in_time_where_a_time_is_asked():
    """Importance and certainty say nothing of how well a fact answers; the time that is asked does."""
    window = Window(NOW - timedelta(days=28), NOW)
    doubtful = aged(10, confidence=0.1, importance=0.1)
    assert timely(0.5, doubtful, window, SETTINGS) == timely(0.5, doubtful, None, SETTINGS) == 0.5
    assert timely(0.5, aged(365), window, SETTINGS) < 0.5


def test_nearness_is_half_at_one_window_length():
    """Outside of a window, nearness halves with each length of it."""
    window = Window(NOW - timedelta(days=20), NOW - timedelta(days=10))
    assert nearness(NOW, window) == pytest.approx(0.5)
    assert nearness(NOW - timedelta(days=15), window) == 1.0
