"""Policy on drafts, attempts at approved replies, and what comes back."""

from __future__ import annotations

from typing import Any

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.replies import ReplyApproved, ReplyBounced, ReplyDiscarded, ReplyDrafted, ReplyHeld
from schemas.events.threads import TimerElapsed
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.core.mail.compose import Composed
from services.send_email.apply import SQL
from services.send_email.deliver import deliver, overtaken
from services.send_email.draft import freeze

Row = dict[str, Any]


class RecipientSuppressed(Permanent):
    """The address is on the suppression list: mail to it bounced, or its owner complained."""


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """Freeze the reply and approve it, hold it for a person, or discard it."""
    draft = work.event
    if draft.decision == "no_reply":
        return
    async with work.reading() as conn:
        mail = await fetch_one(conn, SQL.newest_mail, {"mail_ids": list(draft.mail_ids)})
        assert mail is not None
        suppressed = await fetch_one(
            conn, SQL.suppressed, {"workspace": work.workspace, "addr": mail["author_addr"].casefold()}
        )
    if suppressed:
        raise RecipientSuppressed(f"{mail['author_addr']} is suppressed ({suppressed['reason']})")
    composed = freeze(draft, mail, work.house, work.workspace, work.now)
    blob = await work.house.blobs.put(composed.raw)
    async with work.unit() as unit:
        await unit.lock("thread", draft.thread_id)
        why = await overtaken(unit, draft.thread_id, draft.turn_id)
        await unit.record(_decide(draft, composed, blob, why, work.house.settings.send.approval))


def _decide(draft: ReplyDrafted, composed: Composed, blob: str, why_not: str, approval: str) -> EventData:
    """Discarded, held for a person, or approved. An escalation's message goes without review: it promises nothing."""
    of = draft.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})
    if why_not:
        return ReplyDiscarded(**of, reason=why_not)
    if approval == "review" and draft.decision == "reply":
        return ReplyHeld(**of, inbox=draft.inbox, text=draft.text, band="review", reason="a person approves each reply")
    return ReplyApproved(
        **of,
        inbox=draft.inbox,
        message_id=composed.message_id,
        blob=blob,
        recipient=composed.recipient,
        envelope_from=composed.envelope_from,
        text=draft.text,
        decision="escalate" if draft.decision == "escalate" else "reply",
        state=draft.state,
        goals_add=draft.goals_add,
        goals_close=draft.goals_close,
        reason=draft.reason,
    )


async def on_approved(work: Work[ReplyApproved]) -> None:
    """The first attempt."""
    await deliver(work, work.event.reply_id)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """A later attempt."""
    if work.event.purpose == "send_retry" and work.event.subject:
        await deliver(work, work.event.subject)


async def on_email(work: Work[EmailRead]) -> None:
    """A bounce or complaint about a mail of ours: noted in the ledger, and the address suppressed if it is final."""
    report = work.event.report
    if report is None or report.reply_id is None:
        return
    async with work.unit() as unit:
        await unit.lock("delivery", report.reply_id)
        row = await unit.one(SQL.delivery, reply_id=report.reply_id)
        if row is None or row["state"] not in ("sent", "unknown", "bounced"):
            return
        if report.kind in ("hard", "complaint"):
            await unit.record(_bounced(work.event, row))


def _bounced(mail: EmailRead, row: Row) -> ReplyBounced:
    assert mail.report is not None
    return ReplyBounced(
        reply_id=row["reply_id"],
        thread_id=row["thread_id"],
        turn_id=row["turn_id"],
        mail_id=mail.mail_id,
        kind=mail.report.kind,
        recipient=row["recipient"].casefold(),
        status=mail.report.status,
        diagnostic=mail.report.diagnostic[:500],
        suppressed=True,
    )


HANDLERS: Handlers = {
    ReplyDrafted: on_draft,
    ReplyApproved: on_approved,
    TimerElapsed: on_timer,
    EmailRead: on_email,
}
