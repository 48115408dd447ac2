"""The policy of facts: a table and a few formulas."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import get_args
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.memory import Trust
from services.learn_facts.facts import policy
from services.memory.support import Support, confidence
from tests.unit.learn_facts.people import NOW, id_of

A, B, C = id_of("a"), id_of("b"), id_of("c")


@pytest.mark.parametrize(
    ("kind", "single"),
    [
        ("identity", True),
        ("contact_info", True),
        ("customer_info", True),
        ("order_info", True),
        ("preference", True),
        ("goal", True),
        ("made_by_the_operator", True),
        ("issue_history", False),
        ("event", False),
        ("interaction", False),
        ("relationship", False),
        ("resolution", False),
        ("note", False),
        ("action", False),
    ],
)
def test_a_kind_says_how_many_values_a_key_has(kind: str, single: bool) -> None:
    """What happened is appended; what is so has one value."""
    assert (policy.STANDARD.arity(kind, "any key") == "single") is single


@pytest.mark.parametrize(
    ("kind", "said", "importance"),
    [
        ("identity", 1, 0.85),
        ("goal", 1, 0.75),
        ("constraint", 1, 0.65),
        ("preference", 1, 0.60),
        ("preference", 9, 0.9),
        ("note", 1, 0.1),
        ("note", 99, 1.0),
        ("note", -5, 0.0),
    ],
)
def test_importance_has_floors_and_bounds(kind: str, said: int, importance: float) -> None:
    """1 to 10 becomes 0 to 1, never below the floor of its kind nor outside the range."""
    assert policy.STANDARD.importance(kind, said) == pytest.approx(importance)


@pytest.mark.parametrize(
    ("supports", "expected"),
    [
        ([("inferred", A, A)], 0.5),
        ([("authenticated", A, A)], 0.7),
        ([("human", None, None)], 0.95),
        ([("authenticated", A, A), ("authenticated", A, A)], 0.7),
        ([("authenticated", A, A), ("authenticated", B, A)], 0.82),
        ([("authenticated", A, A), ("authenticated", B, B)], 0.856),
        ([("inferred", A, A), ("authenticated", B, B)], 0.856),
    ],
)
def test_confidence_counts_messages_and_threads(
    supports: list[tuple[Trust, UUID | None, UUID | None]], expected: float
) -> None:
    """Each further message takes 40 % of the doubt, each further thread 20 % of what is left, a repeat nothing."""
    assert confidence(Support(*one) for one in supports) == pytest.approx(expected)


supports = st.builds(
    Support,
    st.sampled_from(sorted(get_args(Trust))),
    st.sampled_from([A, B, C, None]),
    st.sampled_from([A, B, C, None]),
)


@given(st.lists(supports, min_size=1, max_size=8), supports)
def test_more_support_never_lowers_confidence(told: list[Support], more: Support) -> None:
    """Confidence stays between 0 and 1, does not depend on order, and no support takes any away."""
    before, after = confidence(told), confidence([*told, more])
    assert 0 < before <= after <= 1
    assert confidence(reversed(told)) == before


@pytest.mark.parametrize(
    ("away", "history", "believed"),
    [
        (timedelta(days=-6, hours=-23), False, True),
        (timedelta(days=-7), False, True),
        (timedelta(days=-7, seconds=-1), False, False),
        (timedelta(hours=1), False, True),
        (timedelta(hours=1, seconds=1), False, False),
        (timedelta(days=-3000), True, True),
        (timedelta(days=2), True, False),
    ],
)
def test_the_date_header_is_believed_within_bounds(away: timedelta, history: bool, believed: bool) -> None:
    """Valid time is the Date from 7 days before to 1 hour after receipt; in an import any earlier one too."""
    assert policy.valid_from(NOW + away, NOW, history=history) == (NOW + away if believed else NOW)


def test_without_a_date_the_receipt_counts() -> None:
    """A mail without a Date says what is so since it came."""
    assert policy.valid_from(None, NOW, history=True) == NOW


@pytest.mark.parametrize("day", [date(1, 1, 1), date(1899, 12, 31), date(2200, 1, 1), date(9999, 12, 31)])
def test_a_year_that_nobody_means_is_no_end(day: date) -> None:
    """A date beyond any calendar in use stands for never, and breaks nothing."""
    assert policy.end_of_day(day) is None


def test_a_day_is_over_at_midnight_utc() -> None:
    """A last day ends when the next one begins; no day ends never."""
    assert policy.end_of_day(date(2026, 12, 31)) == datetime(2027, 1, 1, tzinfo=UTC)
    assert policy.end_of_day(None) is None


@pytest.mark.parametrize(
    ("zone", "over"),
    [
        ("Europe/Berlin", datetime(2026, 1, 15, 23, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 1, 16, 5, tzinfo=UTC)),
        ("Asia/Tokyo", datetime(2026, 1, 15, 15, tzinfo=UTC)),
    ],
)
def test_a_day_is_over_at_midnight_where_the_mailbox_is(zone: str, over: datetime) -> None:
    """'Until 15 January' ends at the office's midnight, also across a change of the clock."""
    assert policy.end_of_day(date(2026, 1, 15), ZoneInfo(zone)) == over
    assert policy.end_of_day(date(2026, 3, 28), ZoneInfo("Europe/Berlin")) == datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert policy.end_of_day(date(2026, 3, 29), ZoneInfo("Europe/Berlin")) == datetime(2026, 3, 29, 22, tzinfo=UTC)
