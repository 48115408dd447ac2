"""What was lost between DATA and its answer: looked for in the Sent folder, or told by a person. Never repeated.

A copy in Sent proves that the mail went out. That there is none proves nothing, so the reply then stays `unknown`,
listed for a person. What turns out to have been sent, was sent when its intent was recorded: the server's answer came
within the timeouts of one dialogue after that, or not at all.
"""

from __future__ import annotations

from uuid import UUID

from schemas.events.answers import ReplyAccepted
from schemas.events.base import EventData
from schemas.events.replies import DeliverySettled, ReplyApproved, ReplyDrafted, ReplyFailed, ReplyUnknown
from schemas.events.threads import TimerElapsed
from services.core.bus.event_row import EventRow
from services.core.bus.processor import failed_turn
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import row_as
from services.core.retries import UNKNOWN_REPLY
from services.core.storable import storable
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow
from services.send_email.results import ids_of, sent, settle_timer
from services.send_email.sent_folder import lies_in_sent


async def on_unknown(work: Work[ReplyUnknown]) -> None:
    """Have the reply looked for, where there is a Sent folder to look into."""
    event = work.event
    async with work.unit() as unit:
        row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=event.reply_id)
        inbox = work.app.settings.known_inbox(row.inbox) if row else None
        if row and inbox and inbox.imap:
            await unit.set_timer(settle_timer(event.reply_id, event.thread_id, work.moment() + UNKNOWN_REPLY.steps[0]))


async def look(work: Work[TimerElapsed], reply_id: UUID) -> None:
    """Look into Sent: found there it was sent; else look again later, some times."""
    async with work.reading() as conn:
        row = await row_as(conn, DeliveryRow, SQL.delivery, {"reply_id": reply_id})
    if row is None or row.state != "unknown":
        return
    found = await lies_in_sent(work.app, row.inbox, row.message_id)
    async with work.unit() as unit:
        if found:
            await _end(unit, row.reply_id, is_sent=True, said="found in the Sent folder")
        elif (at := UNKNOWN_REPLY.next_since(row.changed_at, work.moment())) is not None:
            await unit.set_timer(settle_timer(row.reply_id, row.thread_id, at))


async def on_settled(work: Work[DeliverySettled]) -> None:
    """A person's word on an unknown reply. Once it is settled, nothing more is said."""
    event = work.event
    async with work.unit() as unit:
        said = f"{event.by} says that it was {'sent' if event.sent else 'not sent'}"
        said += f": {event.reason}" if event.reason else ""
        await _end(unit, event.reply_id, is_sent=event.sent, said=said)


async def _end(unit: Unit, reply_id: UUID, *, is_sent: bool, said: str) -> None:
    """Unknown becomes sent or failed; anything else stays as it is."""
    await unit.lock("delivery", reply_id)
    row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=reply_id)
    approved = await unit.row_as(EventRow.of, SQL.approved, reply_id=reply_id)
    if row is None or approved is None or row.state != "unknown":
        return
    reply = approved.envelope().data
    assert isinstance(reply, ReplyApproved)
    if is_sent:
        left = min(row.departs_at or row.changed_at, row.changed_at)
        await unit.record(sent(reply, row.attempt, said, left))
    else:
        await unit.record(ReplyFailed(**ids_of(reply), attempt=row.attempt, error=said[:500]))
    await unit.cancel_timer(settle_timer(reply_id, row.thread_id, unit.now).timer_id)


# What becomes of a reply whose attempt could not end: never forgotten in the ledger, never blindly repeated.
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
