"""When a channel is told next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from services.alert_people.attempts import Digest, DigestState, due
from services.core.settings import AlertSettings

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SETTINGS = AlertSettings(every_minutes=15, gather_s=20)


def digest(state: DigestState, minutes: float, retry: float | None = None) -> Digest:
    at, retry_at = NOW + timedelta(minutes=minutes), None if retry is None else NOW + timedelta(minutes=retry)
    return Digest(UUID(int=1), state, 1, "x@y", at, at, retry_at)


@pytest.mark.parametrize(
    ("waits", "newest", "expected"),
    [
        (None, None, None),
        (None, digest("sent", -60), None),
        (0.0, None, 20 / 60),
        (0.0, digest("sent", -60), 20 / 60),
        (0.0, digest("sent", -5), 10.0),
        (0.0, digest("failed", -5), 10.0),
        (0.0, digest("grouped", -5), -5.0),
        (None, digest("grouped", -5, retry=25), 25.0),
        (0.0, digest("grouped", -5, retry=25), 25.0),
    ],
)
def test_a_channel_is_told_soon_but_seldom(waits: float | None, newest: Digest | None, expected: float | None) -> None:
    """First gathered, then paused after the last one; what is being tried goes first, at its own time."""
    since = None if waits is None else NOW + timedelta(minutes=waits)
    at = due(since, newest, SETTINGS)
    assert at == (None if expected is None else NOW + timedelta(minutes=expected))


def test_further_alerts_do_not_put_off_the_first() -> None:
    """The time is counted from the oldest that waits, so a steady flood cannot move it."""
    assert due(NOW, None, SETTINGS) == NOW + timedelta(seconds=20)
