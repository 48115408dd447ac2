"""Phrases of time: the windows that sentences of customers give in eight languages, and what gives none."""

from __future__ import annotations

import unicodedata
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.periods import holiday_of, shifted
from services.memory.phrases.language import NAMES, folded
from services.memory.temporal import timed, window_of
from tests.unit.memory.temporal_cases import NOW, Case, as_days, cases

CASES = cases()
WORDS = (
    "in on the last this next before after since until month year Monday may march 5 12th 2025 two weeks ago yesterday "
    "im vor seit letzten zwei Wochen März am il y a deux semaines dernier mars hier hace dos pasado mayo da fa scorso "
    "temu w zeszłym maja с в прошлом мая назад 先月 3月 2週間 前 から"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}: {case.text}")
def test_a_sentence_speaks_of_its_days(case: Case) -> None:
    """A phrase of time names its days; a modal, a name, a greeting, a habit or a deadline names none."""
    assert as_days(window_of(case.text, NOW)) == case.days


def test_every_language_has_its_cases() -> None:
    """Each language is tried on at least fifteen sentences that speak of a time, and fifteen that speak of none."""
    counted = Counter((case.language, bool(case.days)) for case in CASES)
    assert {language for language, _ in counted} == set(NAMES)
    assert min(counted[language, speaks] for language in NAMES for speaks in (True, False)) >= 15


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    """Whatever a text is made of, it gives a window that is not empty, and loses no more than the phrase; or none."""
    window, rest = timed(text, NOW)
    assert (rest == text) if window is None else (window.start < window.end)
    assert len(folded(text)) == len(unicodedata.normalize("NFC", text))


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_any_words_of_time_are_read(text: str) -> None:
    """Words of time in any order, of several languages, are a window that is not empty, or none."""
    window = window_of(text, NOW)
    assert window is None or window.start < window.end


def test_a_long_text_is_read_in_time() -> None:
    """The work grows with the text, not with its square: what is far before a phrase is not looked at again."""
    assert window_of("in since before until 5 12 1 " * 2000 + " last month", NOW) is not None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("die Bestellung vom letzten Monat fehlt", "die Bestellung fehlt"),
        ("la commande du mois dernier manque", "la commande manque"),
        ("mi pedido del mes pasado falta", "mi pedido falta"),
        ("l'ordine del mese scorso manca", "l'ordine manca"),
        ("brakuje zamówienia z zeszłego miesiąca", "brakuje zamówienia"),
        ("не пришёл заказ от 3 февраля", "не пришёл заказ"),
        ("先月の注文が届きません", "注文が届きません"),
    ],
)
def test_the_phrase_leaves_the_text(text: str, rest: str) -> None:
    """What is a window is not searched for as words, in any language, and accents stay on what is left."""
    assert " ".join(timed(text, NOW)[1].split()) == rest


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
