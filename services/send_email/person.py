"""A person's own reply: written into frozen MIME as every reply is, held where they want that, and taken back.

Its turn is the one thing that it needs: a newer mail, a colleague's or an escalation discards an agent's draft, and
not what a person chose to send. What the agent had written in the thread is discarded in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from psycopg.rows import DictRow

from schemas.events.answers import ReplyAccepted, ReplyCancelRequested
from schemas.events.replies import (
    HUMAN_ANSWERED,
    ReplyApproved,
    ReplyDeferred,
    ReplyDiscarded,
    ReplyDrafted,
    ReplyFailed,
)
from schemas.events.threads import TurnClosed
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_all
from services.mail.compose import links_in
from services.send_email.apply import SQL
from services.send_email.deliver import overtaken
from services.send_email.draft import Choices
from services.send_email.frozen import Frozen, Unwritable, frozen_reply
from services.send_email.load import DeliveryRow
from services.send_email.policy import newest
from services.send_email.results import ids_of, retry_timer, retry_timer_id


async def on_accepted(work: Work[ReplyAccepted]) -> None:
    """Freeze the reply and approve it, or say why it may not be written; with a hold it leaves after that."""
    reply = work.event
    draft = _as_draft(reply)
    typed, choices = frozenset(links_in(reply.text)), Choices(reply.cc, reply.with_quote)
    mail = await newest(work, draft)
    frozen = await frozen_reply(work, draft, mail, automatic=False, typed=typed, attached=reply.files, choices=choices)
    async with work.unit() as unit:
        await unit.lock("thread", reply.thread_id)
        drafts = await unit.all(SQL.unsent_in_thread, thread_id=reply.thread_id, reply_id=reply.reply_id)
        await discard(unit, drafts, HUMAN_ANSWERED)
        await unit.lock("delivery", reply.reply_id)
        why_not = await overtaken(unit, reply.thread_id, reply.turn_id)
        if why_not:
            await unit.record(ReplyDiscarded(**_ids(reply), reason=why_not, overtaken=True))
        elif isinstance(frozen, Unwritable):
            await unit.record(ReplyFailed(**_ids(reply), inbox=reply.inbox, attempt=0, error=frozen.reason[:500]))
        else:
            await _approve(work, unit, reply, frozen)


async def on_cancel(work: Work[ReplyCancelRequested]) -> None:
    """Take a person's reply back, unless it is at the server's door by now. Said twice it is said once."""
    asked = work.event
    async with work.unit() as unit:
        await unit.lock("delivery", asked.reply_id)
        row = await unit.one(SQL.held_by_person, reply_id=asked.reply_id)
        if row is not None:
            await unit.record(ReplyDiscarded(**row, reason=f"{asked.by} took it back"))
            await unit.cancel_timer(retry_timer_id(asked.reply_id))


async def _approve(work: Work[ReplyAccepted], unit: Unit, reply: ReplyAccepted, frozen: Frozen) -> None:
    """It may go; held, it waits as one does that the server took not now, and its timer brings it back."""
    approved = ReplyApproved(
        **_ids(reply),
        inbox=reply.inbox,
        message_id=frozen.composed.message_id,
        blob=frozen.blob,
        recipient=frozen.composed.recipient,
        cc=frozen.composed.cc,
        files=tuple(one.blob for one in reply.files),
        envelope_from=frozen.composed.envelope_from,
        text=reply.text,
        approved_by=reply.by,
        by=reply.by,
        then=reply.then,
    )
    await unit.record(approved)
    if reply.hold_s:
        at = work.moment() + timedelta(seconds=reply.hold_s)
        held = f"waits {reply.hold_s:g} s, so that it can be taken back"
        await unit.record(ReplyDeferred(**ids_of(approved), attempt=0, error=held, retry_at=at))
        await unit.set_timer(retry_timer(approved, at))


def _as_draft(reply: ReplyAccepted) -> ReplyDrafted:
    """The reply as what is frozen: a person's words, which propose nothing."""
    said = reply.model_dump(include={"inbox", "mail_ids", "trusted", "text"})
    return ReplyDrafted(**_ids(reply), **said, decision="reply")


def _ids(reply: ReplyAccepted) -> dict[str, Any]:
    return reply.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


# What was written and will not leave: discarded when its turn ends, or when a person answers in its place.
#
# A draft that waits for a person ends with its turn, since nobody is asked about it any more. Its end is an event of
# the ledger like any other, so that whoever counts drafts, or keeps a thread's texts for them, is told. A reply that
# was approved finds its turn closed at its next attempt.


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
