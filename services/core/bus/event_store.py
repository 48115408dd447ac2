"""The table `events`: stores envelopes, and reads what a rebuild applies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas import events as kinds  # whose classes are made when somebody asks for one
from schemas.events import EventData
from services.core.bus.codec import encode
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.sealing import seal
from services.core.db import Connection, fetch_one, queries
from services.core.errors import Permanent
from services.core.keys.aead import clear_part
from services.core.keys.keyring import Begun

SQL = queries(__file__, "events.sql")
LARGEST_EVENT = 950_000  # bytes of a record's value: brokers take a million a record, key and headers included


class EventTooLarge(Permanent):
    """No log would take the event: what is large belongs in a blob."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An event that changed an aggregate and that nobody can read any more: somebody whom it is about was erased."""

    id: UUID
    type: str
    workspace: str
    aggregate: str
    aggregate_id: UUID
    version: int


def read(row: EventRow, *, blanked: bool = False) -> Envelope | Unreadable:
    """The envelope of a row that changed an aggregate, or its place where it cannot be read.

    Where others go on in its thread (`blanked`), what is left of it without a text.
    """
    if not row.is_sealed:
        return row.envelope()
    if blanked:
        return replace(row, data=kinds.EVENTS[row.type].blank(clear_part(row.data))).envelope()
    assert row.aggregate is not None
    assert row.aggregate_id is not None
    assert row.version is not None
    return Unreadable(row.id, row.type, row.workspace, row.aggregate, row.aggregate_id, row.version)


async def store(
    conn: Connection, envelopes: list[Envelope], cause: Envelope | None = None, begun: Begun | None = None
) -> list[Envelope]:
    """Seal events and store them in the caller's transaction, with their aggregates' versions; as they were stored.

    Raises `Erased` where the people of `cause` were erased since it was read, `ErasedMeanwhile` where an erase has met
    its thread since the work has `begun`, and `EventTooLarge`.
    """
    sealed = await seal(conn, envelopes, cause, begun)
    for one in sealed:
        if (size := len(encode(one).value or b"")) > LARGEST_EVENT:
            raise EventTooLarge(f"{one.type} has {size:,} bytes; the log takes {LARGEST_EVENT:,}")
    if sealed:
        args = {"events": Jsonb([_columns(one) for one in sealed]), "versions": Jsonb(_reached(sealed))}
        await conn.execute(SQL.store_events, args)
    return sealed


async def is_gone(conn: Connection, workspace: str, data: EventData) -> bool:
    """Whether an erase took the thread or the person that it is about, and nothing of them has come since.

    True until the caller's transaction ends where that holds their key: an erase of them has ended, or waits for it.
    """
    about = {"workspace": workspace, "thread": data.shared_in(), "person": data.subject_id()}
    row = await fetch_one(conn, SQL.went_with_an_erase, about)
    return bool(row and row["gone"])


def _columns(envelope: Envelope) -> dict[str, Any]:
    """The event as `store_events` takes it, in JSON; the data as it is sealed."""
    data = envelope.data
    return {
        "id": str(envelope.id),
        "workspace": envelope.workspace,
        "topic": envelope.topic,
        "key": envelope.key,
        "type": envelope.type,
        "source": envelope.source,
        "time": envelope.time.isoformat(),
        "aggregate": data.AGGREGATE or None,
        "aggregate_id": str(data.aggregate_id()) if data.AGGREGATE else None,
        "version": envelope.version,
        "data_subject": _text(data.subject_id()),
        "correlation_id": _text(envelope.correlation_id),
        "causation_id": _text(envelope.causation_id),
        "data": envelope.sealed or data.model_dump(mode="json"),
    }


def _reached(envelopes: list[Envelope]) -> list[dict[str, Any]]:
    """The version that each aggregate has after these events."""
    changes = [one for one in envelopes if one.version and one.data.AGGREGATE]
    newest = {(one.workspace, one.data.AGGREGATE, str(one.data.aggregate_id())): one for one in changes}
    return [
        {"workspace": workspace, "kind": kind, "id": id, "version": one.version}
        for (workspace, kind, id), one in newest.items()
    ]


def _text(id: UUID | None) -> str | None:
    return str(id) if id else None
