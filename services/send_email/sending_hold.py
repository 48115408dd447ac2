"""A deployment restored from a backup does not know what it sent since: nothing leaves until a person says so.

What had been approved when the backup was taken may have left, and so has what lies in the Sent folder: it becomes
unknown, and is looked for. Other replies wait, and are looked at once more when they leave.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from schemas.events.replies import ReplyApproved, ReplyDeferred, ReplyUnknown
from services.core.bus.work import Work
from services.core.retries import SENDING_HOLD
from services.send_email.load import DeliveryRow, SendingHold
from services.send_email.results import ids_of, retry_timer
from services.send_email.sent_folder import lies_in_sent


async def waits_for_release(
    work: Work[Any], reply: ReplyApproved, row: DeliveryRow, approved_at: datetime, hold: SendingHold | None
) -> bool:
    """Whether sending waits for a person's release; then what becomes of the reply is recorded.

    `approved_at` is when the approval was stored.
    """
    if hold is None:
        return False
    lost = approved_at <= hold.taken_at or await lies_in_sent(work.app, row.inbox, row.message_id)
    event = {**ids_of(reply), "attempt": row.attempt, "error": hold.reason}
    async with work.unit("hold", final=False) as unit:
        await unit.lock("delivery", reply.reply_id)
        if lost:
            await unit.record(ReplyUnknown(**event))
            return True
        at = work.app.now() + SENDING_HOLD
        await unit.record(ReplyDeferred(**event, retry_at=at))
        await unit.set_timer(retry_timer(reply, at))
    return True
