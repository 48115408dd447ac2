"""What becomes of a reply whose attempt could not end: never forgotten in the ledger, never blindly repeated."""

from __future__ import annotations

from uuid import UUID

from schemas.events.answers import ReplyAccepted
from schemas.events.base import EventData
from schemas.events.replies import ReplyApproved, ReplyDrafted, ReplyFailed, ReplyUnknown
from schemas.events.threads import TimerElapsed
from services.core.bus.failed_turn import failed_turn
from services.core.bus.unit import Unit
from services.core.storable import storable
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow

_failed_turn = failed_turn("send_email")


async def give_up(unit: Unit, error: BaseException) -> bool:
    """Past its intent a reply is `unknown`, before it `failed`; either way people are alerted.

    A draft fails as one that may not be written, and a person's own reply fails its turn. Of any other event, which
    follows a reply that left or a turn that ended, nothing can be said: it stays a dead letter.
    """
    data, said = unit.cause.data, storable(f"{type(error).__name__}: {error}"[:500])
    if isinstance(data, ReplyAccepted):
        return await _failed_turn(unit, error)
    if isinstance(data, ReplyDrafted):
        ids = data.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})
        await unit.record(ReplyFailed(**ids, inbox=data.inbox, attempt=0, error=said))
        return True
    reply_id = _reply_of(data)
    if reply_id is None:
        return False
    await unit.lock("delivery", reply_id)
    row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=reply_id)
    if row is None or row.state not in ("approved", "sending"):
        return False
    await unit.record(
        (ReplyUnknown if row.state == "sending" else ReplyFailed)(**row.ids, attempt=row.attempt, error=said)
    )
    return True


def _reply_of(data: EventData) -> UUID | None:
    if isinstance(data, ReplyApproved):
        return data.reply_id
    return data.subject if isinstance(data, TimerElapsed) and data.purpose == "send_retry" else None
