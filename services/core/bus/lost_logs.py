"""Losses of the log that an operator should see: each for a day, or until it is acknowledged.

The embedded broker begins empty after each start: that is no loss, and never listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.settings import Settings

SQL = queries(__file__, "log_topics.sql")
SHOWN_TOPICS = 5


@dataclass(frozen=True, slots=True)
class LostLog:
    """Topics that were lost in one go: when, why, and how many events were published again so far."""

    lost_at: datetime
    topics: tuple[str, ...]
    reasons: tuple[str, ...]
    republished: int
    unfinished: bool

    @property
    def words(self) -> str:
        """The loss in a line."""
        more = len(self.topics) - SHOWN_TOPICS
        named = ", ".join(self.topics[:SHOWN_TOPICS]) + (f" and {more} more" if more > 0 else "")
        again = f"{self.republished:,} events published again{' so far' if self.unfinished else ''}"
        when = f"the broker lost records at {self.lost_at:%Y-%m-%d %H:%M} UTC"
        return f"{when}: {named} ({'; '.join(self.reasons)}); {again} (correspondent topics acknowledge)"


async def recent_losses(conn: Connection, settings: Settings) -> tuple[LostLog, ...]:
    """Losses of the last day that nobody acknowledged, the newest first."""
    if settings.kafka.embedded:
        return ()
    rows = await fetch_all(conn, SQL.recent_losses, {"prefix": settings.kafka.topic_prefix})
    return tuple(LostLog(**{**row, "topics": tuple(row["topics"]), "reasons": tuple(row["reasons"])}) for row in rows)


async def acknowledge(conn: Connection, settings: Settings) -> int:
    """Show the losses so far no more; of how many topics."""
    row = await fetch_one(conn, SQL.acknowledge_losses, {"prefix": settings.kafka.topic_prefix})
    assert row is not None
    return int(row["topics"])
