"""The day's round proposes within its caps; what becomes of a draft, and who wants no more, is noted under one lock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events.mail import EmailRead
from schemas.events.outreach import (
    OutreachChanged,
    OutreachDue,
    OutreachState,
    OutreachUnsubscribed,
    UnsubscribeRequested,
)
from schemas.events.proactive import DraftRefused
from schemas.events.replies import ReplyBounced, ReplyDiscarded, ReplyFailed, ReplySent
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_one, row_as
from services.core.ids import outreach_book_id
from services.mail.unsubscribe import token_of_subject, unsubscribed_by
from services.reach_out.apply import SQL
from services.reach_out.decide import STALE, Outreach, follows, proposals, says_stop
from services.reach_out.load import load_day

KIND = "outreach_book"


async def on_due(work: Work[OutreachDue]) -> None:
    """Propose drafts to whom the rules hold for today, up to the day's cap; a round of a day that is over does none."""
    due, settings = work.event, work.app.settings.reach_out
    if work.app.now() - due.due_at > STALE:
        return
    zone = work.app.settings.hours_of(due.inbox).zone
    async with work.unit() as unit:
        await unit.lock(KIND, due.book_id)
        for event in proposals(await load_day(unit, due, settings, zone)):
            await unit.record(event)


async def on_refused(work: Work[DraftRefused]) -> None:
    """The thread has no room for the draft."""
    await _change(work, work.event.reply_id, "refused")


async def on_discarded(work: Work[ReplyDiscarded]) -> None:
    """A person rejected it, or something came first."""
    await _change(work, work.event.reply_id, "discarded")


async def on_failed(work: Work[ReplyFailed]) -> None:
    """It could not be sent."""
    await _change(work, work.event.reply_id, "failed")


async def on_sent(work: Work[ReplySent]) -> None:
    """It left; an answer to it may have been read before."""
    await _change(work, work.event.reply_id, "sent")


async def on_bounced(work: Work[ReplyBounced]) -> None:
    """It came back."""
    await _change(work, work.event.reply_id, "bounced")


async def on_email(work: Work[EmailRead]) -> None:
    """A mail that gives a token back unsubscribes, whoever sent it; one of whom we wrote to counts as an answer.

    Where that says in words that they want no more, it unsubscribes them, too.
    """
    mail, settings = work.event, work.app.settings.reach_out
    token = token_of_subject(mail.subject)
    of = unsubscribed_by(work.app.signing_keys, work.workspace, token) if token else None
    if of is not None:
        await _unsubscribe(work, of, "mail")
    elif mail.identity.trusted and mail.participant_id and mail.verdict.kind in ("answer", "human"):
        since = work.now - timedelta(days=settings.answered_days)
        args = {"participant_id": mail.participant_id, "since": since, "until": work.now}
        async with work.reading() as conn:
            sent = await row_as(conn, Outreach, SQL.unanswered, args)
            lately = await fetch_one(conn, SQL.lately, args) if says_stop(mail.text) else None
        if sent is not None:
            await _change(work, sent.outreach_id, "answered")
        if lately is not None:
            await _unsubscribe(work, lately["outreach_id"], "mail")


async def on_unsubscribe(work: Work[UnsubscribeRequested]) -> None:
    """By the link in a mail, or by a person of ours, who may also take it back."""
    asked = work.event
    if asked.outreach_id is not None:
        await _unsubscribe(work, asked.outreach_id, "link")
    elif asked.participant_id is not None:
        async with work.unit() as unit:
            await unit.lock(KIND, asked.book_id)
            stands = await unit.all(SQL.unsubscribed, participant_id=asked.participant_id)
            whom = [row["participant_id"] for row in stands] if asked.lifted else [asked.participant_id]
            if asked.lifted or not stands:
                told = {"book_id": asked.book_id, "how": "person", "lifted": asked.lifted, "by": asked.by}
                for one in whom:
                    await unit.record(OutreachUnsubscribed.model_validate({**told, "participant_id": one}))


async def _change(work: Work[Any], id: UUID, state: OutreachState) -> None:
    """Note what came of a proposal, where the reply is one and that may follow."""
    book_id = outreach_book_id(work.workspace)
    async with work.reading() as conn:
        if await fetch_one(conn, SQL.outreach, {"outreach_id": id, "book_id": book_id}) is None:
            return
    async with work.unit() as unit:
        await unit.lock(KIND, book_id)
        outreach = await unit.row_as(Outreach, SQL.outreach, outreach_id=id, book_id=book_id)
        if outreach is None or not follows(outreach.state, state):
            return
        told = {"book_id": book_id, "outreach_id": id, "participant_id": outreach.participant_id}
        await unit.record(OutreachChanged.model_validate({**told, "state": state}))
        if state == "sent" and await _answered(work, unit, outreach):
            await unit.record(OutreachChanged.model_validate({**told, "state": "answered"}))


async def _answered(work: Work[Any], unit: Unit, outreach: Outreach) -> bool:
    """Whether the answer was read before it was noted that our mail had left."""
    args = {"participant_id": outreach.participant_id, "since": work.now}
    return await unit.one(SQL.answered_since, **args) is not None


async def _unsubscribe(work: Work[Any], of: UUID, how: str) -> None:
    """Whom the mail of a token was to wants no more; said twice it is said once."""
    book_id = outreach_book_id(work.workspace)
    async with work.unit() as unit:
        await unit.lock(KIND, book_id)
        outreach = await unit.row_as(Outreach, SQL.outreach, outreach_id=of, book_id=book_id)
        if outreach is None or await unit.one(SQL.unsubscribed, participant_id=outreach.participant_id):
            return
        told = {"book_id": book_id, "participant_id": outreach.participant_id, "outreach_id": of, "how": how}
        await unit.record(OutreachUnsubscribed.model_validate(told))


HANDLERS: Handlers = {
    OutreachDue: on_due,
    DraftRefused: on_refused,
    ReplyDiscarded: on_discarded,
    ReplyFailed: on_failed,
    ReplySent: on_sent,
    ReplyBounced: on_bounced,
    EmailRead: on_email,
    UnsubscribeRequested: on_unsubscribe,
}
