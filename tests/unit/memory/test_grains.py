"""What came to pass is told by the day while it is fresh, and ever more coarsely as it grows old."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from schemas.model_output import Grain
from services.core.settings import GrainSettings
from services.memory.grains import grain_of, name_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)  # a Saturday


@pytest.mark.parametrize(
    ("at", "grain", "name"),
    [
        ("2026-11-21", "daily", "2026-11-21"),
        ("2026-11-08", "daily", "2026-11-08"),  # the fourteenth day
        ("2026-11-07", "weekly", "2026-W45"),
        ("2026-09-28", "weekly", "2026-W40"),  # the Monday of the eighth week
        ("2026-09-27", "monthly", "2026-09"),
        ("2025-12-01", "monthly", "2025-12"),
        ("2025-11-30", "quarterly", "2025-Q4"),
        ("2025-01-01", "quarterly", "2025-Q1"),
        ("2024-12-31", "yearly", "2024"),
        ("2027-01-01", "daily", "2027-01-01"),  # a clock that runs ahead of ours
    ],
)
def test_the_older_the_coarser(at: str, grain: Grain, name: str) -> None:
    """Days reach back two weeks, weeks eight, months twelve and quarters eight, the running one among them."""
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert grain_of(moment, NOW, GrainSettings()) == grain
    assert name_of(grain, moment) == name


def test_a_week_belongs_to_the_year_that_iso_8601_gives_it() -> None:
    """The first of January 2027 is a Friday, and so in the last week of 2026."""
    assert name_of("weekly", datetime(2027, 1, 1, tzinfo=UTC)) == "2026-W53"


def test_a_period_is_that_of_the_local_day() -> None:
    """Shortly before midnight in UTC it is the next day in Berlin, and there it is the next month."""
    now = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    moment = datetime(2026, 10, 31, 23, 30, tzinfo=UTC).astimezone(now.tzinfo)
    assert name_of("monthly", moment) == "2026-11"
    assert grain_of(moment, now, GrainSettings(days=21)) == "daily"


def test_how_far_each_grain_reaches_is_a_setting() -> None:
    """With one day, one week and so on, only what is running is told finely."""
    short = GrainSettings(days=1, weeks=1, months=1, quarters=1)
    told = [grain_of(NOW.replace(month=month, day=day), NOW, short) for month, day in ((11, 21), (11, 20), (11, 2))]
    assert [*told, grain_of(NOW.replace(month=10), NOW, short)] == ["daily", "weekly", "monthly", "quarterly"]
