"""What came to pass, put together by day, week, month, quarter or year: the older, the coarser. Pure.

A period is named as ISO 8601 names it (a quarter, which that does not know, as `2026-Q1`), in the time zone of `now`.
"""

from __future__ import annotations

from datetime import datetime

from schemas.model_output import Grain
from services.core.settings import GrainSettings, PeriodRetention
from services.memory.periods import Unit, period, shifted

UNITS: dict[Grain, Unit] = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
}


def grain_of(moment: datetime, now: datetime, reach: GrainSettings) -> Grain:
    """How finely something of that moment is told: the finest grain that reaches back to it."""
    return next((grain for grain in UNITS if moment >= reach_of(grain, now, reach)), "yearly")


def reach_of(grain: Grain, now: datetime, reach: GrainSettings) -> datetime:
    """Since when this grain tells: when the first of its last periods began, the running one among them."""
    counts = {"daily": reach.days, "weekly": reach.weeks, "monthly": reach.months, "quarterly": reach.quarters}
    if grain == "yearly":
        return datetime.min.replace(tzinfo=now.tzinfo)
    return shifted(period(UNITS[grain], now).start, UNITS[grain], 1 - counts[grain])


def kept_since(grain: Grain, now: datetime, keep: PeriodRetention) -> datetime:
    """When the oldest period of this grain ended that is still kept; longer than the calendar goes back is for good."""
    ever = datetime.min.replace(tzinfo=now.tzinfo)
    try:
        return shifted(now, UNITS[grain], -count) if (count := keep.count(grain)) else ever
    except ValueError:  # before the year 1
        return ever


def name_of(grain: Grain, moment: datetime) -> str:
    """The period that a moment lies in: `2026-03-09`, `2026-W11`, `2026-03`, `2026-Q1` or `2026`."""
    year, week, _ = moment.isocalendar()
    return {
        "daily": f"{moment:%Y-%m-%d}",
        "weekly": f"{year}-W{week:02}",
        "monthly": f"{moment:%Y-%m}",
        "quarterly": f"{moment.year}-Q{(moment.month + 2) // 3}",
        "yearly": f"{moment.year}",
    }[grain]
