"""The test run itself: what it asks of the clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def test_no_property_fails_by_the_clock() -> None:
    """A property that says nothing of time has no deadline, and slow data is no fault on a busy machine."""
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
