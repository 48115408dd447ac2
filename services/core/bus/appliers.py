"""What appliers share: an event's fields as arguments of SQL, and the applier that only runs statements."""

from __future__ import annotations

from typing import Any, LiteralString

from services.core.bus.envelope import Envelope
from services.core.bus.unit import Apply
from services.core.db import Connection


def fields_of(envelope: Envelope) -> dict[str, Any]:
    """The event's fields by name, with its workspace, version, time (`at`) and cause; tuples are arrays to Postgres."""
    fields = {name: list(one) if isinstance(one, tuple) else one for name, one in envelope.data.model_dump().items()}
    of_the_envelope = {"workspace": envelope.workspace, "version": envelope.version, "cause": envelope.causation_id}
    return {**fields, **of_the_envelope, "at": envelope.time}


def runs(*statements: LiteralString) -> Apply:
    """An applier that runs these statements, in order, with the event's fields."""

    async def apply(conn: Connection, envelope: Envelope) -> None:
        for statement in statements:
            await conn.execute(statement, fields_of(envelope))

    return apply
