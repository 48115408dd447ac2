"""Quality in pictures and weeks: lines break where nothing was decided, weeks begin on Monday."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from services.operations.quality import Tally, Trend, mondays_until
from services.web.console.quality import lines_of, percent


def trend(*weeks: tuple[int, int]) -> Trend:
    """Of drafts unchanged and rejected, by week."""
    return Trend("how_to", Tally(), tuple(Tally(unchanged=good, rejected=bad) for good, bad in weeks))


def test_a_week_without_drafts_breaks_the_line() -> None:
    """No value is drawn for it: neither nothing nor the week before."""
    assert lines_of(trend((1, 0), (0, 1), (0, 0), (1, 1))) == ["2.0,2.0 32.7,22.0", "92.0,12.0 96.0,12.0"]
    assert lines_of(trend((0, 0), (0, 0))) == []
    assert lines_of(trend((1, 0))) == ["0.0,2.0 4.0,2.0"]


def test_a_share_of_nothing_is_a_dash() -> None:
    """And not zero, which is a judgement."""
    assert (percent(Tally().unchanged_share), percent(Tally(rejected=1).unchanged_share)) == ("–", "0 %")
    assert (percent(Tally(edited=2, changed=0.5).mean_change), percent(Tally(edited=0).mean_change)) == ("25 %", "–")
    assert (percent(Tally(sent=4, reopened=1).reopened_share), percent(Tally().reopened_share)) == ("25 %", "–")


@pytest.mark.parametrize("hour", [0, 23])
def test_the_last_week_is_the_one_that_runs(hour: int) -> None:
    """From its Monday to its Sunday, in UTC."""
    for day in range(19, 26):
        now = datetime(2026, 1, day, hour, tzinfo=UTC)
        assert mondays_until(now, 2) == (date(2026, 1, 12), date(2026, 1, 19))
    east = datetime(2026, 1, 19, 1, tzinfo=timezone(timedelta(hours=2)))
    assert mondays_until(east, 1) == (date(2026, 1, 12),), "in UTC it is Sunday"
