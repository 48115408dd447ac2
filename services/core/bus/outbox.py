"""The outbox: stored events on their way to the log.

Invariants
- An event that the broker refuses was decided and is stored: that is no failure of the handler that decided it. It
  stays in the outbox, is counted (`correspondent status`) and is tried again by the relay, with pauses of its own.
- Nothing is raised but that the log is away, when the same call may be made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.delivery import Record
from services.core.bus.publisher import LogUnavailable, TopicMissing
from services.core.storable import storable

log = structlog.get_logger(__name__)

LONGEST_ERROR = 300  # characters of the broker's answer that are kept


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """A stored event that the broker does not take, and why."""

    id: UUID
    type: str
    error: str


async def publish_stored(
    app: App, stored: Sequence[tuple[UUID, str, Record]], *, wait_for_topic: bool = False
) -> list[RefusedEvent]:
    """Publish stored events (id, type, record) and note what became of each; those that the broker refuses.

    Raises `LogUnavailable` where the log is away, after what went out is noted; with `wait_for_topic` also where it has
    no such topic, since one that was started again may have it in a moment.
    """
    if not stored:
        return []
    outcomes = await app.publisher.publish_each([record for _, _, record in stored])
    await _announce(app, {record.topic for _, _, record in stored})
    await mark_published(app, [id for (id, _, _), error in zip(stored, outcomes, strict=True) if error is None])
    refused = [
        RefusedEvent(id, kind, storable(f"{type(error).__name__}: {error}"[:LONGEST_ERROR]))
        for (id, kind, _), error in zip(stored, outcomes, strict=True)
        if error is not None and _is_refused(error, wait_for_topic)
    ]
    await mark_refused(app, refused)
    away = {
        record.topic: error
        for (_, _, record), error in zip(stored, outcomes, strict=True)
        if isinstance(error, LogUnavailable) and not _is_refused(error, wait_for_topic)
    }
    if away:
        error = next(iter(away.values()))
        error.topics = frozenset(away)
        raise error
    return refused


async def mark_published(app: App, ids: list[UUID]) -> None:
    """The broker has acknowledged these events."""
    if ids:
        await app.group_commit.mark_published(ids)


async def _announce(app: App, topics: set[str]) -> None:
    """Ring for consumers of the embedded broker that run in another process than this one."""
    if not app.settings.kafka.embedded:
        return
    elsewhere = [topic for topic in topics if app.bell.reaches(topic) < _consumers_of(app, topic)]
    if elsewhere:
        async with app.database.reading() as conn:
            await conn.execute(event_store.SQL.announce_published, {"topics": elsewhere})


def _consumers_of(app: App, topic: str) -> int:
    """How many consumers the topic has; one that this version does not know may have some."""
    known = catalogue().topics.get(topic.removeprefix(app.settings.kafka.topic_prefix))
    return len(known.consumers) if known else 1


async def mark_refused(app: App, refused: Sequence[RefusedEvent]) -> None:
    """The broker does not take these events; the relay tries them again later."""
    if not refused:
        return
    for one in refused:
        log.error("the broker refuses a stored event", id=str(one.id), type=one.type, error=one.error)
    async with app.database.reading() as conn, conn.cursor() as cursor:
        await cursor.executemany(event_store.SQL.mark_refused, [{"id": one.id, "error": one.error} for one in refused])


def _is_refused(error: BaseException, wait_for_topic: bool) -> bool:
    if isinstance(error, TopicMissing):
        return not wait_for_topic
    return not isinstance(error, LogUnavailable)
