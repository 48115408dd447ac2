"""The table `events`: rows from envelopes, and envelopes from rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas import events as kinds  # whose classes are made when somebody asks for one
from schemas.events import EventData
from services.core.bus.codec import encode
from services.core.bus.envelope import Envelope
from services.core.bus.sealing import seal
from services.core.db import Connection, fetch_one, queries
from services.core.errors import Permanent
from services.core.keys import Erased, NotAuthentic, is_sealed
from services.core.keys.aead import OF, clear_part
from services.core.keys.keyring import Begun

SQL = queries(__file__, "events.sql")
LARGEST_EVENT = 950_000  # bytes of a record's value: brokers take a million a record, key and headers included

# A row of `events`, or of an archived file that any release wrote: what its data holds is known when its type is read.
EventRow = dict[str, Any]


class EventTooLarge(Permanent):
    """No log would take the event: what is large belongs in a blob."""


def row(envelope: Envelope) -> EventRow:
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


def envelope(row: EventRow) -> Envelope:
    """The envelope that was stored as this row. Raises `Erased` where the data is still sealed.

    Rows come opened from a connection that has the keys; one without them reads nothing that is about a person.
    """
    if is_sealed(row["data"]):
        raise Erased(f"{row['type']} {row['id']} cannot be read: somebody whom it is about was erased")
    sealed = row.get("sealed")
    if sealed and sealed[OF] != str(row["id"]):
        raise NotAuthentic(f"the data of {sealed[OF]} stands at {row['id']}")
    return Envelope(
        id=row["id"],
        source=row["source"],
        time=row["time"],
        workspace=row["workspace"],
        data=kinds.EVENTS[row["type"]].model_validate(row["data"]),
        correlation_id=row["correlation_id"],
        causation_id=row["causation_id"],
        version=row["version"],
        sealed=sealed,
    )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An event that changed an aggregate and that nobody can read any more: somebody whom it is about was erased."""

    id: UUID
    type: str
    workspace: str
    aggregate: str
    aggregate_id: UUID
    version: int


def read(row: EventRow) -> Envelope | Unreadable:
    """The envelope of a row that changed an aggregate, or its place where it cannot be read.

    Where others go on in its thread (`blanked`), what is left of it without a text.
    """
    if not is_sealed(row["data"]):
        return envelope(row)
    if row["blanked"]:
        data = kinds.EVENTS[row["type"]].blank(clear_part(row["data"]))
        return envelope({**row, "data": data})
    return Unreadable(**{name: row[name] for name in Unreadable.__slots__})


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
        args = {"events": Jsonb([row(one) for one in sealed]), "versions": Jsonb(_reached(sealed))}
        await conn.execute(SQL.store_events, args)
    return sealed


async def is_gone(conn: Connection, workspace: str, data: EventData) -> bool:
    """Whether an erase took the thread or the person that it is about, and nothing of them has come since.

    True until the caller's transaction ends where that holds their key: an erase of them has ended, or waits for it.
    """
    about = {"workspace": workspace, "thread": data.shared_in(), "person": data.subject_id()}
    row = await fetch_one(conn, SQL.went_with_an_erase, about)
    return bool(row and row["gone"])


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
