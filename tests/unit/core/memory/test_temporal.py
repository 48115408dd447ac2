from datetime import UTC, datetime, timedelta, timezone

import pytest

from services.core.memory.periods import holiday_of, shifted
from services.core.memory.temporal import window_of

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def days(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    """The window as first and last day, both inclusive."""
    window = window_of(text, now)
    if window is None:
        return None
    return window.start.date().isoformat(), (window.end - timedelta(microseconds=1)).date().isoformat()


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("my order of 2026-02-03 is late", "2026-02-03", "2026-02-03"),
        ("bestellt am 03.02.2026", "2026-02-03", "2026-02-03"),
        ("I wrote on 3 February 2026", "2026-02-03", "2026-02-03"),
        ("I wrote on the 3rd of February", "2026-02-03", "2026-02-03"),
        ("I wrote on Feb 3rd, 2025", "2025-02-03", "2025-02-03"),
        ("I wrote on May 3", "2025-05-03", "2025-05-03"),
        ("the invoice of Sept. 2025", "2025-09-01", "2025-09-30"),
        ("that kettle I bought in March", "2026-03-01", "2026-03-31"),
        ("last March we spoke", "2025-03-01", "2025-03-31"),
        ("last December we spoke", "2025-12-01", "2025-12-31"),
        ("it broke in May", "2025-05-01", "2025-05-31"),
        ("back in early November", "2025-11-01", "2025-11-30"),
        ("we subscribed in 2023", "2023-01-01", "2023-12-31"),
        ("today", "2026-03-18", "2026-03-18"),
        ("the call yesterday", "2026-03-17", "2026-03-17"),
        ("the day before yesterday", "2026-03-16", "2026-03-16"),
        ("tomorrow", "2026-03-19", "2026-03-19"),
        ("on Monday", "2026-03-16", "2026-03-16"),
        ("last Wednesday", "2026-03-11", "2026-03-11"),
        ("that order from last month", "2026-02-01", "2026-02-28"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("this week", "2026-03-16", "2026-03-22"),
        ("next month", "2026-04-01", "2026-04-30"),
        ("last quarter", "2025-10-01", "2025-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("last weekend", "2026-03-14", "2026-03-15"),
        ("three days ago", "2026-03-15", "2026-03-15"),
        ("a couple of weeks ago", "2026-03-02", "2026-03-08"),
        ("2 months ago", "2026-01-01", "2026-01-31"),
        ("in the last 10 days", "2026-03-08", "2026-03-18"),
        ("over the past two weeks", "2026-03-04", "2026-03-18"),
        ("at Christmas", "2025-12-25", "2025-12-25"),
        ("Easter 2026", "2026-04-05", "2026-04-05"),
        ("at Easter", "2025-04-20", "2025-04-20"),
        ("on Thanksgiving", "2025-11-27", "2025-11-27"),
        ("your Black Friday offer", "2025-11-28", "2025-11-28"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("in the winter of 2024", "2024-12-01", "2025-02-28"),
    ],
)
def test_phrases_name_their_days(text, first, last):
    """A temporal phrase names its first and last day, relative to now."""
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("before Christmas", None, "2025-12-25"),
        ("until last week", None, "2026-03-16"),
        ("after 2026-01-10", "2026-01-11", "2026-03-18"),
        ("since January", "2026-01-01", "2026-03-18"),
        ("since the 3rd of February", "2026-02-03", "2026-03-18"),
    ],
)
def test_prepositions_open_the_window_to_one_side(text, start, end):
    """Before and until reach far back; after and since reach up to now."""
    window = window_of(text, NOW)
    assert window is not None
    if start is None:
        assert window.start.year < NOW.year - 90
    else:
        assert window.start.date().isoformat() == start
    assert window.end.date().isoformat() == end


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I ask a question?",
        "5 may be free",
        "Of our seats 12 may not be used",
        "You may march on",
        "June called about the fall in prices",
        "my order 2026 is missing",
        "order number 31.02.2026",
        "it takes 3 days",
        "please answer by Monday",
        "version 10.4.2 crashes",
        "the mayor, a secondary marching band",
    ],
)
def test_what_is_no_date_gives_no_window(text):
    """Verbs, names, numbers, deadlines and dates that no calendar has are not taken for a time."""
    assert window_of(text, NOW) is None


def test_the_first_phrase_counts():
    """Of two phrases the first one is the window."""
    assert days("the order from last month, not the one from yesterday") == ("2026-02-01", "2026-02-28")


def test_days_begin_at_midnight_of_the_zone_of_now():
    """Yesterday is yesterday where now is, not in UTC."""
    zone = timezone(timedelta(hours=9))
    window = window_of("yesterday", datetime(2026, 3, 18, 1, 0, tzinfo=zone))
    assert window is not None
    assert window.start == datetime(2026, 3, 17, tzinfo=zone)


@pytest.mark.parametrize(
    ("unit", "count", "expected"),
    [
        ("month", -1, (2026, 2, 28)),
        ("month", 1, (2026, 4, 30)),
        ("year", -2, (2024, 3, 31)),
        ("quarter", -1, (2025, 12, 31)),
    ],
)
def test_shifting_keeps_to_the_calendar(unit, count, expected):
    """The 31st shifted into a shorter month is that month's last day."""
    moved = shifted(datetime(2026, 3, 31, tzinfo=UTC), unit, count)
    assert (moved.year, moved.month, moved.day) == expected


@pytest.mark.parametrize(
    ("year", "month", "day"), [(1999, 4, 4), (2000, 4, 23), (2019, 4, 21), (2024, 3, 31), (2038, 4, 25)]
)
def test_easter_falls_where_the_church_says(year, month, day):
    """The computus agrees with the published table."""
    window = holiday_of(NOW, "easter", year)
    assert (window.start.month, window.start.day) == (month, day)
