"""Policy on drafts, attempts at approved replies, and what comes back."""

from __future__ import annotations

from typing import Any

from schemas.events.mail import EmailRead
from schemas.events.replies import (
    DeliverySettled,
    DraftDecided,
    ReplyApproved,
    ReplyBounced,
    ReplyDiscarded,
    ReplyDrafted,
    ReplyHeld,
    ReplySent,
    ReplyUnknown,
)
from schemas.events.threads import TimerElapsed
from services.core.bus import history
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.core.mail.compose import Composed
from services.send_email.apply import SQL
from services.send_email.deliver import deliver, overtaken
from services.send_email.draft import freeze, text_sha256
from services.send_email.sent_folder import on_sent
from services.send_email.settling import look, on_settled, on_unknown

Row = dict[str, Any]


class RecipientSuppressed(Permanent):
    """The address is on the suppression list: mail to it bounced, or its owner complained."""


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """Freeze the reply and approve it, hold it for a person, or discard it."""
    draft = work.event
    if draft.decision == "no_reply":
        return
    composed, blob = await _frozen(work, draft, automatic=True)
    held = work.house.settings.send.approval == "review" and draft.decision == "reply"
    async with work.unit() as unit:
        await unit.lock("thread", draft.thread_id)
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not:
            await unit.record(ReplyDiscarded(**_of(draft), reason=why_not, overtaken=True))
        elif held:
            await unit.record(_held(draft))
        else:
            await unit.record(_approved(draft, composed, blob, "policy"))


async def on_decided(work: Work[DraftDecided]) -> None:
    """A person's word on a held draft. Said twice it is said once; about another text it is not said at all."""
    decided = work.event
    key = {"thread_id": str(decided.thread_id), "reply_id": str(decided.reply_id)}
    async with work.reading() as conn:
        found = await fetch_one(conn, SQL.draft, key)
    if found is None:
        return
    draft = history.envelope(found).data
    assert isinstance(draft, ReplyDrafted)
    final = draft.model_copy(update={"text": decided.text or draft.text})
    frozen = await _frozen(work, final, automatic=False) if decided.approve else None
    async with work.unit() as unit:
        await unit.lock("thread", draft.thread_id)
        await unit.lock("delivery", draft.reply_id)
        row = await unit.one(SQL.delivery, reply_id=draft.reply_id)
        if row is None or row["state"] != "draft" or decided.text_sha256 != text_sha256(draft.text):
            return
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not or frozen is None:
            reason = why_not or f"{decided.by} rejected it: {decided.reason}"
            await unit.record(ReplyDiscarded(**_of(draft), reason=reason, overtaken=bool(why_not)))
        else:
            await unit.record(_approved(final, *frozen, decided.by))


async def _frozen(work: Work[Any], draft: ReplyDrafted, *, automatic: bool) -> tuple[Composed, str]:
    """The MIME of a draft, and its name in the blob store. Raises `RecipientSuppressed` or `ComposeRefused`."""
    async with work.reading() as conn:
        mail = await fetch_one(conn, SQL.newest_mail, {"mail_ids": list(draft.mail_ids)})
        assert mail is not None
        who = {"workspace": work.workspace, "addr": mail["author_addr"].casefold()}
        suppressed = await fetch_one(conn, SQL.suppressed, who)
    if suppressed:
        raise RecipientSuppressed(f"{mail['author_addr']} is suppressed ({suppressed['reason']})")
    composed = freeze(draft, mail, work.house, work.workspace, work.now, automatic=automatic)
    return composed, await work.house.blobs.put(composed.raw)


def _of(draft: ReplyDrafted) -> dict[str, Any]:
    return draft.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


def _held(draft: ReplyDrafted) -> ReplyHeld:
    why = "a person approves each reply"
    return ReplyHeld(**_of(draft), inbox=draft.inbox, text=draft.text, band="review", reason=why)


def _approved(draft: ReplyDrafted, composed: Composed, blob: str, by: str) -> ReplyApproved:
    return ReplyApproved(
        **_of(draft),
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
        approved_by=by,
    )


async def on_approved(work: Work[ReplyApproved]) -> None:
    """The first attempt."""
    await deliver(work, work.event.reply_id)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """A later attempt, or a look for a reply that is unknown."""
    if work.event.purpose == "send_retry" and work.event.subject:
        await deliver(work, work.event.subject)
    elif work.event.purpose == "send_settle":
        await look(work)


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
    DraftDecided: on_decided,
    ReplyApproved: on_approved,
    ReplySent: on_sent,
    ReplyUnknown: on_unknown,
    DeliverySettled: on_settled,
    TimerElapsed: on_timer,
    EmailRead: on_email,
}
