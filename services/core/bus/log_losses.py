"""Which topics of a log lost records, by what they were and what they are (pure); and the losses that operators see.

Invariant: nothing is lost unless something says so. A topic that is seen for the first time and holds records is
trusted: its consumers read it from where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.log_identity import LogIdentity
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.settings import Settings

SQL = queries(__file__, "log_topics.sql")


Ends = Sequence[int]  # the end of each partition, by number


@dataclass(frozen=True, slots=True)
class KnownTopic:
    """What a topic was when it was last looked at; `unfinished` while it is being published again."""

    cluster_id: str
    topic_id: str
    ends: Ends = ()
    unfinished: bool = False
    due: bool = False


def lost_topics(
    names: Iterable[str], known: Mapping[str, KnownTopic], seen: LogIdentity, missing: Collection[str]
) -> dict[str, str]:
    """The topics that lost their records, each with the reason. `missing` are those that were not there until now."""
    found = {name: _reason(known[name], seen, name, missing) for name in names if name in known}
    return {name: reason for name, reason in found.items() if reason}


def ends_gone_back(known: Mapping[str, KnownTopic], ends: Mapping[str, Ends]) -> dict[str, str]:
    """The topics of which a partition ends before where it ended once."""
    found: dict[str, str] = {}
    for name, now in ends.items():
        then = known[name].ends if name in known else ()
        for number, (before, after) in enumerate(zip(then, now, strict=False)):
            if after < before:
                found[name] = f"partition {number} ended at {before:,} and ends at {after:,} now"
    return found


def pairs_of(lost: Collection[str], consumers: Iterable[tuple[str, str]], prefix: str) -> list[tuple[str, str]]:
    """The (topic, consumer) pairs whose events have to be published again.

    Dead letters are made again from the events that they were made of.
    """
    return [
        (topic, consumer)
        for topic, consumer in consumers
        if prefix + topic in lost or dead_letter_topic(prefix + topic, prefix + consumer) in lost
    ]


def _reason(known: KnownTopic, seen: LogIdentity, name: str, missing: Collection[str]) -> str:
    if name in missing:
        return "the topic was missing"
    id = seen.topics.get(name, "")
    if known.topic_id and id:
        return "" if known.topic_id == id else "the topic was made again: it has another id"
    if known.cluster_id and seen.cluster and known.cluster_id != seen.cluster:
        return f"another cluster: {seen.cluster}, {known.cluster_id} before"
    return ""


# Losses of the log that an operator should see: each for a day, or until it is acknowledged.
#
# The embedded broker begins empty after each start: that is no loss, and never listed.
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
