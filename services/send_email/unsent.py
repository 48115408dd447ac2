"""What was written and will not leave: discarded when its turn ends, or when a person answers in its place.

A draft that waits for a person ends with its turn, since nobody is asked about it any more. Its end is an event of the
ledger like any other, so that whoever counts drafts, or keeps a thread's texts for them, is told. A reply that was
approved finds its turn closed at its next attempt.
"""

from __future__ import annotations

from collections.abc import Iterable

from psycopg.rows import DictRow

from schemas.events.replies import HUMAN_ANSWERED, ReplyDiscarded
from schemas.events.threads import TurnClosed
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_all
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow


async def on_turn_closed(work: Work[TurnClosed]) -> None:
    """The draft that still waits in it is discarded, for the reason that the turn ended for."""
    closed = work.event
    async with work.reading() as conn:
        drafts = await fetch_all(conn, SQL.waiting_in_turn, {"turn_id": closed.turn_id})
    if drafts:
        async with work.unit() as unit:
            await discard(unit, drafts, HUMAN_ANSWERED if closed.answered_by else closed.reason)


async def discard(unit: Unit, unsent: Iterable[DictRow], reason: str) -> None:
    """Discard drafts and approved replies, unless something else came of them by now."""
    for row in unsent:
        await unit.lock("delivery", row["reply_id"])
        still = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=row["reply_id"])
        if still and still.state in ("draft", "approved"):
            await unit.record(ReplyDiscarded(**row, reason=reason, overtaken=True))
