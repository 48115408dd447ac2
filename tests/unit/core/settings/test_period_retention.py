"""How long told periods are kept: the three plans, and numbers of one's own over them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.core.settings import PeriodRetention, RetentionSettings
from services.core.settings.storage import COUNTS
from services.memory.grains import kept_since


@pytest.mark.parametrize(
    ("plan", "counts"),
    [
        ("", (0, 0, 0, 0, 0)),
        ("free", (30, 6, 6, 4, 2)),
        ("starter", (60, 12, 12, 8, 4)),
        ("pro", (120, 24, 24, 16, 8)),
    ],
)
def test_a_plan_has_a_number_for_each_length(plan: str, counts: tuple[int, ...]) -> None:
    """Days, weeks, months, quarters and years; without a plan nothing goes."""
    keep = PeriodRetention.model_validate({"plan": plan})
    assert tuple(keep.count(one) for one in COUNTS) == counts
    assert keep.shortest_days == counts[0]


def test_own_numbers_stand_over_the_plan() -> None:
    """The others stay the plan's."""
    keep = RetentionSettings.model_validate({"periods": {"plan": "free", "months": 18}}).periods
    assert [keep.count("monthly"), keep.count("weekly")] == [18, 6]


def test_a_length_is_counted_in_its_own_measure() -> None:
    """Six months before the end of August are the end of February; what has no number is kept for good."""
    keep, now = PeriodRetention(months=6), datetime(2026, 8, 31, 12, tzinfo=UTC)
    assert kept_since("monthly", now, keep) == datetime(2026, 2, 28, 12, tzinfo=UTC)
    assert kept_since("daily", now, keep).year == 1


@pytest.mark.parametrize("own", [{"years": 3000}, {"quarters": 36_500}, {"months": 36_500}])
def test_longer_than_the_calendar_goes_back_is_for_good(own: dict[str, int]) -> None:
    """Such a number stopped the layer of the past, and with it each reply."""
    keep, now = PeriodRetention.model_validate(own), datetime(2026, 8, 31, 12, tzinfo=UTC)
    (grain,) = (one for one in COUNTS if keep.count(one))
    assert kept_since(grain, now, keep) == datetime.min.replace(tzinfo=UTC)
