"""Records that this version cannot read although they are its own to handle: held, never made a dead letter.

During a rolling upgrade a newer process writes what an older one does not know. A dead letter would have to be redriven
in every group; a partition that waits goes on by itself once its process is upgraded. What is held is shown by
`correspondent status`, raises an alert, and can be released by a person as a dead letter.
"""

from __future__ import annotations

import logging
from datetime import UTC

from schemas import events as kinds  # whose classes are made when somebody asks for one
from schemas.topics import stem_of
from services.core.app import App
from services.core.bus.codec import Undecodable, header, said_by
from services.core.bus.delivery import Delivery
from services.core.bus.processor import Processor
from services.core.db import fetch_one, queries
from services.core.errors import Away
from services.core.paging import Listing
from services.core.storable import storable

log = logging.getLogger(__name__)

SQL = queries(__file__, "held_records.sql")
HELD = Listing("held", (("since", "time"), ("id", "number")))
LONGEST_ERROR = 500  # characters


class Held(Away):
    """An event is this processor's to handle, and only a newer version can read it."""


def is_known(kind: str) -> bool:
    """Whether this version knows the type, in this major version or in another one."""
    return kind in kinds.EVENTS or stem_of(kind) in {stem_of(one) for one in kinds.EVENTS}


def is_mine(processor: Processor, kind: str) -> bool:
    """Whether the processor handles this type, in this major version or in another one."""
    known = kinds.EVENTS.get(kind)
    if known is not None:
        return known in processor.handlers
    return stem_of(kind) in {stem_of(one.TYPE) for one in processor.handlers}


async def hold(app: App, processor: Processor, delivery: Delivery, error: Undecodable) -> None:
    """Note that the record is held. Raises `Held`, or `error` where a person has released it as a dead letter."""
    try:
        event_id, at = said_by(delivery)
        day = at.astimezone(UTC).date()
    except Undecodable:
        event_id, day = None, None
    args = {
        "consumer": processor.name,
        "topic": delivery.topic,
        "partition": delivery.partition,
        "offset": delivery.offset,
        "event_id": event_id,
        "event_day": day,
        "type": header(delivery, "ce_type"),
        "error": storable(str(error)[:LONGEST_ERROR]),
    }
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.hold, args)
    assert row is not None
    if row["released"]:
        raise error
    if row["new"]:
        log.error("%(consumer)s holds a %(type)s in %(topic)s: a newer version wrote it", args)
    raise Held(str(error)) from error
