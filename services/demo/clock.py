"""The demo's clock: it can be set forward, and then goes on as fast as any other."""

from __future__ import annotations

from datetime import datetime, timedelta

from services.core.clock import monotonic, utc_now


class SteppingClock:
    """Called like `utc_now`. It never goes back."""

    def __init__(self, start: datetime) -> None:
        self._base = start
        self._since = monotonic()

    def __call__(self) -> datetime:
        """The time in the story."""
        return self._base + timedelta(seconds=monotonic() - self._since)

    def forward(self, to: datetime) -> None:
        """Make it `to`, unless it is later already."""
        if to > self():
            self._base, self._since = to, monotonic()

    def present(self) -> None:
        """Make it the real time."""
        self.forward(utc_now())
