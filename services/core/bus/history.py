"""The table `events`: rows from envelopes, and envelopes from rows."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from schemas.events import EVENTS
from services.core.bus.envelope import Envelope
from services.core.db import Connection, queries

SQL = queries(__file__, "events.sql")


def row(envelope: Envelope) -> dict[str, Any]:
    """The parameters of `store_event`."""
    data = envelope.data
    return {
        "id": envelope.id,
        "workspace": envelope.workspace,
        "topic": envelope.topic,
        "key": envelope.key,
        "type": envelope.type,
        "source": envelope.source,
        "time": envelope.time,
        "aggregate": data.AGGREGATE or None,
        "aggregate_id": data.aggregate_id() if data.AGGREGATE else None,
        "version": envelope.version,
        "data_subject": data.subject_id(),
        "correlation_id": envelope.correlation_id,
        "causation_id": envelope.causation_id,
        "data": Jsonb(data.model_dump(mode="json")),
    }


def envelope(row: dict[str, Any]) -> Envelope:
    """The envelope that was stored as this row."""
    return Envelope(
        id=row["id"],
        source=row["source"],
        time=row["time"],
        workspace=row["workspace"],
        data=EVENTS[row["type"]].model_validate(row["data"]),
        correlation_id=row["correlation_id"],
        causation_id=row["causation_id"],
        version=row["version"],
    )


async def store(conn: Connection, envelopes: list[Envelope]) -> None:
    """Store events in the caller's transaction."""
    if envelopes:
        async with conn.cursor() as cursor:
            await cursor.executemany(SQL.store_event, [row(one) for one in envelopes])
