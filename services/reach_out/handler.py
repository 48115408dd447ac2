"""The day's round proposes within its caps; what becomes of a draft, and who wants no more, is noted under one lock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
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
from services.core.settings.rules import OutreachRule
from services.mail.unsubscribe import token_of_subject, unsubscribed_by
from services.memory.facts import plain_key
from services.reach_out.apply import SQL
from services.reach_out.decide import STALE, Candidate, Outreach, follows, outreach_id, proposals

KIND = "outreach_book"
MOST = 500  # candidates of a rule that are looked at in a round


async def on_due(work: Work[OutreachDue]) -> None:
    """Propose drafts to whom the rules hold for today, up to the day's cap; a round of a day that is over does none."""
    due, settings = work.event, work.app.settings.reach_out
    if work.app.now() - due.due_at > STALE:
        return
    today, done = due.due_at.date(), set[UUID]()
    async with work.unit() as unit:
        await unit.lock(KIND, due.book_id)
        room = settings.per_day - await _proposed(unit, due)
        for rule in settings.rules:
            if rule.inbox not in ("", due.inbox):
                continue
            found = await _candidates(unit, rule, due, settings.person_days)
            fresh = await _unknown(unit, rule, due.book_id, [one for one in found if one.person not in done])
            for proposed, draft in proposals(rule, fresh, due.book_id, due.inbox, today):
                person = next(one.person for one in fresh if one.participant_id == proposed.participant_id)
                if room > 0 and person not in done:
                    await unit.record(proposed)
                    await unit.record(draft)
                    room, done = room - 1, done | {person}


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
    """A mail that gives a token back unsubscribes, whoever sent it; one of whom we wrote to counts as an answer."""
    mail, settings = work.event, work.app.settings.reach_out
    token = token_of_subject(mail.subject)
    of = unsubscribed_by(work.app.keyring, work.workspace, token) if token else None
    if of is not None:
        await _unsubscribe(work, of, "mail")
    elif mail.identity.trusted and mail.participant_id and mail.verdict.kind in ("answer", "human"):
        since = work.now - timedelta(days=settings.answered_days)
        args = {"participant_id": mail.participant_id, "since": since, "until": work.now}
        async with work.reading() as conn:
            sent = await row_as(conn, Outreach, SQL.unanswered, args)
        if sent is not None:
            await _change(work, sent.outreach_id, "answered")


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


async def _proposed(unit: Unit, due: OutreachDue) -> int:
    """How many were proposed for the inbox on this day, and none of the day before in its last hours."""
    since = due.due_at.replace(hour=0, minute=0, second=0, microsecond=0)
    row = await unit.one(SQL.proposed_since, workspace=unit.workspace, inbox=due.inbox, since=since)
    return int(row["n"]) if row else 0


async def _candidates(unit: Unit, rule: OutreachRule, due: OutreachDue, person_days: float) -> list[Candidate]:
    def before(days: float) -> datetime:
        return due.due_at - timedelta(days=days)

    return await unit.rows_as(
        Candidate,
        SQL.candidates,
        workspace=unit.workspace,
        inbox=due.inbox,
        now=due.due_at,
        silent_since=before(rule.silent_days),
        states=list(rule.states),
        state_since=before(rule.state_days),
        fact=plain_key(rule.fact),
        without=plain_key(rule.without_fact),
        with_goal=rule.goal_days > 0,
        goal_since=before(rule.goal_days),
        person_since=before(person_days),
        most=MOST,
    )


async def _unknown(unit: Unit, rule: OutreachRule, book_id: UUID, found: Iterable[Candidate]) -> list[Candidate]:
    """Those to whom this very occasion was not proposed before."""
    by_id = {outreach_id(book_id, rule, one): one for one in found}
    known = {row["outreach_id"] for row in await unit.all(SQL.known, ids=list(by_id))}
    return [one for id, one in by_id.items() if id not in known]


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
