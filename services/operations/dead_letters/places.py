"""An index of dead letters in Postgres: where each stands on its topic. What a dead letter says stays on the topic.

Invariants
- It is brought up to date before each use, by reading what the topics got since: no writer of a dead letter knows it.
- It is derived. A topic that was lost (`log_topics.generation`) is read again from its beginning.
- What it costs grows with what is new and with what is shown, never with how many dead letters there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from operator import itemgetter
from typing import Any
from uuid import UUID

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.delivery import Partition
from services.core.bus.topics_admin import ends
from services.core.db import fetch_all, fetch_one, queries
from services.core.settings.storage import DEAD_LETTERS
from services.operations.dead_letters.dead_letter import DeadLetter, open_sealed
from services.operations.log import read

SQL = queries(__file__, "places.sql")
BATCH = 200  # dead letters that are noted in one transaction
GAP = 100  # records that are read and thrown away rather than asked for apart


@dataclass(frozen=True, slots=True)
class DeadLetterPlace:
    """A dead letter's record."""

    id: UUID
    consumer: str
    topic: str
    partition: int
    record_offset: int
    failed_at: datetime

    @property
    def source(self) -> Partition:
        """Topic and partition."""
        return self.topic, self.partition


def dead_letter_topics(app: App) -> dict[str, str]:
    """The consumer of each topic of dead letters."""
    prefix = app.settings.kafka.topic_prefix
    return {dead_letter_topic(prefix + topic, prefix + name): name for topic, name in catalogue().consumers()}


async def catch_up(app: App) -> None:
    """Note what came since. Several processes may do it at once. Raises `LogUnavailable`."""
    groups = dead_letter_topics(app)
    stops = await ends(app.settings.kafka, list(groups))
    starts, marks = await _marks(app, stops)
    batch: list[dict[str, Any]] = []
    async for record in read(app.settings.kafka, starts, stops):
        dead_letter = await open_sealed(record, groups[record.topic], app.keys)
        batch.append(_row(dead_letter))
        if len(batch) == BATCH:
            await _note(app, batch, ())
            batch = []
    if batch or marks:
        await _note(app, batch, marks)


async def waiting_count(app: App) -> int:
    """How many dead letters wait, as far as is noted."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.count_waiting)
    assert row is not None
    return int(row["letters"])


async def find_places(app: App, query: Any, args: dict[str, Any]) -> list[DeadLetterPlace]:
    """The places that a statement of `places.sql` finds."""
    async with app.database.reading() as conn:
        return [DeadLetterPlace(**row) for row in await fetch_all(conn, query, args)]


async def dead_letters_at(app: App, wanted: Sequence[DeadLetterPlace]) -> list[DeadLetter]:
    """The dead letters at these places, in their order; without those whose records are gone."""
    found: dict[UUID, DeadLetter] = {}
    for start, stop in _runs(wanted):
        source = start.source
        async for record in read(app.settings.kafka, {source: start.record_offset}, {source: stop.record_offset + 1}):
            dead_letter = await open_sealed(record, start.consumer, app.keys)
            found[dead_letter.id] = dead_letter
    return [found[one.id] for one in wanted if one.id in found]


def _runs(wanted: Sequence[DeadLetterPlace]) -> list[tuple[DeadLetterPlace, DeadLetterPlace]]:
    """The first and the last of each run of places that lie close together."""
    inorder = sorted(wanted, key=lambda one: (one.source, one.record_offset))
    breaks = [0] + [
        number
        for number, (one, other) in enumerate(pairwise(inorder), 1)
        if one.source != other.source or other.record_offset - one.record_offset > GAP
    ]
    return [(inorder[a], inorder[b - 1]) for a, b in pairwise([*breaks, len(inorder)])] if inorder else []


def _row(dead_letter: DeadLetter) -> dict[str, Any]:
    place = {
        "topic": dead_letter.record.topic,
        "partition": dead_letter.record.partition,
        "offset": dead_letter.record.offset,
    }
    about = {
        "id": dead_letter.id,
        "event_id": dead_letter.event_id,
        "consumer": dead_letter.group,
        "failed_at": dead_letter.failed_at,
    }
    return about | place


async def _marks(app: App, stops: Mapping[Partition, int]) -> tuple[dict[Partition, int], list[dict[str, Any]]]:
    """Where to read on, and the marks that change by that. What is noted of a lost topic is forgotten."""
    args = {"topics": [topic for topic, _ in stops], "partitions": [partition for _, partition in stops]}
    starts, marks = {}, []
    async with app.database.transaction() as conn:
        rows = await fetch_all(conn, SQL.marks, args)
        await conn.execute(SQL.forget_old, {"days": DEAD_LETTERS.days})
        for row in rows:
            place, noted = {"topic": row["topic"], "partition": row["partition"]}, row["upto"]
            stop = stops[row["topic"], row["partition"]]
            stands = noted is not None and row["noted"] == row["generation"] and noted <= stop
            if noted and not stands:
                await conn.execute(SQL.forget_lost, place)
            starts[row["topic"], row["partition"]] = noted if stands else 0
            if not stands or noted != stop:
                marks.append({**place, "generation": row["generation"], "upto": stop})
    return starts, marks


async def _note(app: App, rows: Sequence[dict[str, Any]], marks: Sequence[dict[str, Any]]) -> None:
    async with app.database.transaction() as conn, conn.cursor() as cursor:
        if rows:
            await cursor.executemany(SQL.note, sorted(rows, key=itemgetter("id")))
        if marks:
            await cursor.executemany(SQL.mark, marks)
