"""Waiting between connections."""

from __future__ import annotations

import pytest

from services.core.retries import RECONNECT_FIRST_S, RECONNECT_LONGEST_S, STABLE_S, reconnect_s


@pytest.mark.parametrize(
    ("last", "lived", "expected"),
    [
        (0.0, 0.0, RECONNECT_FIRST_S),
        (1.0, 0.0, 2.0),
        (2.0, STABLE_S - 0.1, 4.0),
        (200.0, 1.0, RECONNECT_LONGEST_S),
        (RECONNECT_LONGEST_S, 1.0, RECONNECT_LONGEST_S),
        (RECONNECT_LONGEST_S, STABLE_S, RECONNECT_FIRST_S),
    ],
)
def test_the_delay_doubles_until_a_stable_minute(last: float, lived: float, expected: float) -> None:
    """The wait doubles up to its bound, and begins anew only after a connection that lived a minute."""
    assert reconnect_s(last, lived) == expected
