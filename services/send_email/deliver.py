"""One attempt at one approved reply. The intent is recorded before DATA; whatever happens after is recorded too."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from schemas.events.base import EventData
from schemas.events.replies import (
    COLLEAGUE_ANSWERED,
    ESCALATED,
    LEFT_ALONE,
    NEWER_MAIL,
    TURN_OVER,
    UNSUBSCRIBED,
    ReplyApproved,
    ReplyDeferred,
    ReplyDiscarded,
    ReplyFailed,
    ReplySending,
    ReplyUnknown,
)
from services.core.bus.event_row import EventRow
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_several, first_as
from services.core.db.locks import HeldElsewhere
from services.core.outages import SQL as OUTAGES
from services.core.outages import mail_servers
from services.core.retries import SENDING_HOLD, next_delivery
from services.mail.imap import token_store
from services.mail.smtp_dialogue import NotNow, OutcomeUnknown, ServerAway, SmtpMessage, SmtpRefused, dialogue
from services.send_email import rate
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow, SendingHold, TurnNow
from services.send_email.results import ids_of, retry_timer, sent
from services.send_email.sent_folder import lies_in_sent
from services.send_email.suppressions import RecipientSuppressed, refuse_suppressed

log = structlog.get_logger(__name__)

AS_STORED = (SQL.delivery, SQL.sending_hold, OUTAGES.found, SQL.approved)


class Overtaken(Exception):
    """A newer mail, a human's reply or an escalation discarded the draft before it left."""


class OverRate(Exception):
    """Others of the same inbox were faster, and the hour is full."""


async def deliver(work: Work[Any], reply_id: UUID, *, unless_timed: bool = False) -> None:
    """Try to hand the reply over, unless it has left already or is no longer wanted.

    `unless_timed`: nor where it is held so that it can be taken back, or was put off, since a timer will bring it back.
    """
    async with work.app.locks.hold(reply_id):
        async with work.reading() as conn:
            args = {"reply_id": reply_id, "workspace": work.workspace}
            ledger, holds, away, approvals = await fetch_several(conn, AS_STORED, args)
        row, hold = first_as(DeliveryRow, ledger), first_as(SendingHold, holds)
        approved = first_as(EventRow.of, approvals)
        if row is None or approved is None or row.state not in ("approved", "sending"):
            return
        if unless_timed and row.state == "approved" and row.retry_at is not None:
            return
        reply = approved.envelope().data
        assert isinstance(reply, ReplyApproved)
        # We hold the reply's lock, so whoever recorded this is gone. The server may have the mail: no second attempt.
        if row.state == "sending":
            lost = "the sender stopped between the intent and the server's answer"
            await _settle(work, ReplyUnknown(**ids_of(reply), attempt=row.attempt, error=lost))
        elif not (
            await waits_for_release(work, reply, row, approved.stored_at, hold) or await rate.waits(work, reply, row)
        ):
            await _attempt(work, reply, row, {one["service"] for one in away})


async def _attempt(work: Work[Any], reply: ReplyApproved, row: DeliveryRow, away: set[str]) -> None:
    """Talk to the server; `away` are the services of which an outage was noted before."""
    attempt, settings = row.attempt + 1, work.app.settings
    raw = await work.app.blobs.get(reply.blob)
    message = SmtpMessage(reply.envelope_from, reply.recipient, raw, await _wanted_copies(work, reply))
    try:
        async with dialogue(settings.smtp_of(reply.inbox), message, token_store(settings)) as session:
            # As late as can be: the server has taken sender and recipient, and DATA is all that is left.
            await _intend(work, reply, attempt)
            said = await session.data()
            await _settle(work, sent(reply, attempt, said, work.moment()))
        if f"smtp {reply.inbox}" in away:
            await mail_servers.clear(work.app, "smtp", reply.inbox)
    except Overtaken:
        return
    except OverRate:
        if not await rate.waits(work, reply, row):
            raise HeldElsewhere(f"the rate of {reply.inbox} was full a moment ago") from None
    except NotNow as error:
        if isinstance(error, ServerAway) and await mail_servers.note(work.app, "smtp", reply.inbox, str(error)):
            remedy = f"correspondent inbox test {reply.inbox}"
            log.warning("the SMTP server is away: replies wait", inbox=reply.inbox, error=str(error), try_it=remedy)
        await _defer(work, reply, attempt, str(error))
    except (SmtpRefused, RecipientSuppressed) as error:
        await _settle(work, ReplyFailed(**ids_of(reply), attempt=attempt, error=str(error)))
    except OutcomeUnknown as error:
        await _settle(work, ReplyUnknown(**ids_of(reply), attempt=attempt, error=str(error)))


async def _wanted_copies(work: Work[Any], reply: ReplyApproved) -> tuple[str, ...]:
    """The copies whose addresses are not suppressed by now."""
    if not reply.cc:
        return ()
    kept: list[str] = []
    async with work.reading() as conn:
        for one in reply.cc:
            with suppress(RecipientSuppressed):
                await refuse_suppressed(conn, work.workspace, one)
                kept.append(one)
    return tuple(kept)


async def _intend(work: Work[Any], reply: ReplyApproved, attempt: int) -> None:
    """Look at thread, ledger and suppressions once more, under their locks, and record that DATA comes next."""
    async with work.unit(f"intent-{attempt}", final=False) as unit:
        # The thread first, here and in `policy` and `person`: two that hold one each would wait for each other.
        await unit.lock("thread", reply.thread_id)
        await unit.lock("delivery", reply.reply_id)
        ids = reply.model_dump(include={"reply_id", "thread_id", "turn_id"})
        ledger, turns = await unit.several((SQL.delivery, SQL.still_wanted), **ids)
        row = first_as(DeliveryRow, ledger)
        if row is None or row.state != "approved" or row.attempt >= attempt:
            raise HeldElsewhere(f"another sender was faster with {reply.reply_id}")
        why = why_not(first_as(TurnNow, turns))
        now = work.app.now()
        if not why:
            await refuse_suppressed(unit.conn, unit.workspace, reply.recipient)
        if not why and await _full(work, unit, reply, row, now):
            raise OverRate
        if not why:
            await unit.record(ReplySending(**ids_of(reply), attempt=attempt, departs_at=now))
    if why:
        await _settle(work, ReplyDiscarded(**ids_of(reply), reason=why, overtaken=True))
        raise Overtaken


async def _full(work: Work[Any], unit: Unit, reply: ReplyApproved, row: DeliveryRow, now: datetime) -> bool:
    limit = rate.limit_of(work, reply.inbox)
    return bool(limit) and not rate.has_moment(row) and await rate.next_moment(unit, reply, limit, now) > now


async def overtaken(unit: Unit, thread_id: UUID, turn_id: UUID) -> str:
    """Why the draft may not go any more, or "". A person's own reply needs its turn, and nothing else."""
    return why_not(await unit.row_as(TurnNow, SQL.still_wanted, thread_id=thread_id, turn_id=turn_id))


def why_not(turn: TurnNow | None) -> str:
    """The same, of what the tables say of its thread and turn."""
    if turn is None or not turn.open:
        return TURN_OVER
    if turn.by:
        return ""
    if turn.state == "escalated":
        return ESCALATED
    if turn.by_hand:
        return COLLEAGUE_ANSWERED
    if turn.unsubscribed:
        return UNSUBSCRIBED
    if turn.left_alone:
        return LEFT_ALONE
    return NEWER_MAIL if turn.newer else ""


async def _defer(work: Work[Any], reply: ReplyApproved, attempt: int, error: str) -> None:
    async with work.unit(f"result-{attempt}") as unit:
        first = await unit.one(SQL.attempt_began, reply_id=reply.reply_id)
        now = work.moment()
        began = first["at"] if first and first["at"] else now
        retry_at = next_delivery(now, attempt, began, work.app.settings.send.retry_days)
        if retry_at is None:
            await unit.record(ReplyFailed(**ids_of(reply), attempt=attempt, error=f"given up after days: {error}"))
            return
        await unit.record(ReplyDeferred(**ids_of(reply), attempt=attempt, error=error, retry_at=retry_at))
        await unit.set_timer(retry_timer(reply, retry_at))


async def _settle(work: Work[Any], result: EventData) -> None:
    async with work.unit("result") as unit:
        await unit.record(result)


# A deployment restored from a backup does not know what it sent since: nothing leaves until a person says so.
#
# What had been approved when the backup was taken may have left, and so has what lies in the Sent folder: it becomes
# unknown, and is looked for. Other replies wait, and are looked at once more when they leave.


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
