"""Policy on drafts: approved, held for a person, discarded or refused; and what a person decides about a held one."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from schemas.events.alerts import PersonCalled
from schemas.events.replies import (
    ApprovalLevel,
    DraftDecided,
    ReplyApproved,
    ReplyDeferred,
    ReplyDiscarded,
    ReplyDrafted,
    ReplyFailed,
    ReplyHeld,
    SentFile,
)
from services.core.approval_level import Level, level_when_sent
from services.core.bus.event_row import EventRow
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_one, row_as
from services.core.ids import text_sha256
from services.core.keys import Erased
from services.core.office_hours import add, is_open
from services.core.own_wording import edited_share, is_own_wording
from services.mail.compose import links_in
from services.send_email.apply import SQL
from services.send_email.deliver import overtaken
from services.send_email.frozen import Frozen, Unwritable, frozen_reply, kept
from services.send_email.load import DeliveryRow, NewestMail
from services.send_email.results import ids_of, retry_timer
from services.send_email.unproven import as_fixed, freeze_fixed, gate, without_proposals

UNPROVEN = "nothing proves that the sender is who they say"
CLOSED = Unwritable("the sender's domain says that this mail is not its own: a person decides")


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """Freeze the reply and approve it, hold it for a person, discard it, or say why it may not be written."""
    draft = work.event
    if draft.decision == "no_reply":
        return
    mail = await newest(work, draft)
    to_whom = gate(draft, mail, work.app)
    level = await _level(work, draft)
    held = level.level != "auto" or to_whom == "review"
    if to_whom != "open":
        draft = without_proposals(draft)
    frozen: Frozen | Unwritable = CLOSED
    if to_whom == "template" and not held:
        draft = as_fixed(draft, work.app)
        frozen = await kept(work, partial(freeze_fixed, draft, mail, work.app, work.workspace, work.now))
    elif to_whom != "closed":
        frozen = await frozen_reply(work, draft, mail, automatic=not held)
    async with work.unit() as unit:
        await unit.lock("thread", draft.thread_id)
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not:
            await unit.record(ReplyDiscarded(**_of(draft), reason=why_not, overtaken=True))
        elif held and isinstance(frozen, Frozen):
            await _hold(unit, draft, frozen, level.level, level.why if to_whom in ("open", "named") else UNPROVEN)
        else:
            await _end(unit, draft, frozen, "policy", earned=level.earned)


async def _level(work: Work[ReplyDrafted], draft: ReplyDrafted) -> Level:
    """The draft's approval level. What was earned is only looked up where it may change anything."""
    settings, said = work.app.settings, draft.approval or work.app.settings.send.approval
    is_open = False
    if said == "review" and settings.approval.earn and draft.intent:
        named = {"workspace": work.workspace, "inbox": draft.inbox, "intent": draft.intent}
        async with work.reading() as conn:
            is_open = await fetch_one(conn, SQL.earned, named) is not None
    return level_when_sent(draft, said, is_open, settings.approval)


async def on_decided(work: Work[DraftDecided]) -> None:
    """A person's word on a held draft. Said twice it is said once; about another text it is not said at all.

    Nor about one that nobody can read any more, since somebody was erased. What a person approves is what leaves, to
    the mail: where settings changed since it was shown, so that it would leave otherwise, it is shown again instead.
    """
    decided = work.event
    key = {"thread_id": str(decided.thread_id), "reply_id": str(decided.reply_id)}
    async with work.reading() as conn:
        found = await row_as(conn, EventRow.of, SQL.draft, key)
        seen = _as_held(await row_as(conn, EventRow.of, SQL.held, {"reply_id": decided.reply_id}))
    if found is None or found.is_sealed:
        return
    draft = found.envelope().data
    assert isinstance(draft, ReplyDrafted)
    if decided.approve and not is_own_wording(_band(seen), draft.text, decided.text):
        return
    final = draft.model_copy(update={"text": decided.text, "citations": ()}) if decided.text else draft
    frozen: Frozen | Unwritable | None = None
    if decided.approve:
        mail = await newest(work, draft)
        final = final if gate(draft, mail, work.app) == "open" else without_proposals(final)
        typed = frozenset(links_in(decided.text)).difference(links_in(draft.text))
        frozen = await frozen_reply(work, final, mail, automatic=False, typed=typed, attached=decided.files)
    async with work.unit() as unit:
        if not await _still_asked(unit, decided, draft):
            return
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not or frozen is None:
            reason = why_not or f"{decided.by} rejected it: {decided.reason}"
            await unit.record(ReplyDiscarded(**_of(draft), reason=reason, overtaken=bool(why_not)))
        elif isinstance(frozen, Frozen) and not decided.text and _shown(seen) not in ("", frozen.composed.text):
            why = "its text would differ from the one that was shown: settings have changed"
            await _hold(unit, final, frozen, _band(seen), why)
        else:
            edited = edited_share(draft.text, final.text)
            opens_at = _opens_at(work, final)
            await _end(unit, final, frozen, decided.by, decided.files, edited=edited, opens_at=opens_at)


def _opens_at(work: Work[DraftDecided], draft: ReplyDrafted) -> datetime | None:
    """When the office opens, where mail that nobody asked for is approved while it is closed."""
    if not draft.unsubscribe:
        return None
    hours, now = work.app.settings.hours_of(draft.inbox), work.moment()
    return None if is_open(now, hours) else add(now, timedelta(0), hours)


def _as_held(row: EventRow | None) -> ReplyHeld | None:
    """What the person was shown, unless nobody can read it any more."""
    if row is None or row.is_sealed:
        return None
    held = row.envelope().data
    assert isinstance(held, ReplyHeld)
    return held


def _shown(held: ReplyHeld | None) -> str:
    """The text that the person saw; "" where an earlier release did not keep it."""
    return held.shown if held else ""


def _band(held: ReplyHeld | None) -> ApprovalLevel:
    """The approval level under which it was shown."""
    return held.band if held else "review"


async def _still_asked(unit: Unit, decided: DraftDecided, draft: ReplyDrafted) -> bool:
    """Whether the draft waits, and text and thread are those that the person saw. Both stay locked."""
    await unit.lock("thread", draft.thread_id)
    await unit.lock("delivery", draft.reply_id)
    row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=draft.reply_id)
    version = await unit.version("thread", draft.thread_id)
    waits = row is not None and row.state == "draft"
    return waits and await _same_thread(unit, decided, version) and decided.text_sha256 == text_sha256(draft.text)


async def _same_thread(unit: Unit, decided: DraftDecided, version: int) -> bool:
    """Whether nothing has come into the thread since the person looked; what the agent did while it wrote may have."""
    if decided.thread_version in (None, version):
        return True
    args = {"workspace": unit.workspace, "thread_id": decided.thread_id, "seen": decided.thread_version}
    return await unit.one(SQL.changed_since, **args, version=version) is None


async def _end(
    unit: Unit,
    draft: ReplyDrafted,
    frozen: Frozen | Unwritable,
    by: str,
    attached: tuple[SentFile, ...] = (),
    *,
    earned: bool = False,
    edited: float = 0,
    opens_at: datetime | None = None,
) -> None:
    if isinstance(frozen, Frozen):
        told = {"earned": earned, "edited": edited}
        approved = _approved(draft, frozen, by, attached).model_copy(update=told)
        await unit.record(approved)
        if opens_at is not None:
            closed = "the office is closed: mail that nobody asked for leaves when it opens"
            await unit.record(ReplyDeferred(**ids_of(approved), attempt=0, error=closed, retry_at=opens_at))
            await unit.set_timer(retry_timer(approved, opens_at))
    else:
        await unit.record(ReplyFailed(**_of(draft), inbox=draft.inbox, attempt=0, error=frozen.reason[:500]))


def _of(draft: ReplyDrafted) -> dict[str, Any]:
    return draft.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


async def newest(work: Work[Any], draft: ReplyDrafted) -> NewestMail:
    """The newest mail that the draft answers: its author is the one recipient. Raises `Erased` where none is left."""
    async with work.reading() as conn:
        mail = await row_as(conn, NewestMail, SQL.newest_mail, {"mail_ids": list(draft.mail_ids)})
    if mail is None:
        raise Erased(f"the mails that the reply {draft.reply_id} answers went with an erase")
    return mail


async def _hold(unit: Unit, draft: ReplyDrafted, frozen: Frozen, level: ApprovalLevel, why: str) -> None:
    """Have it wait for a person, who is shown what would leave, and is alerted."""
    if draft.decision == "escalate":
        why = f"{why}; the agent hands over: {draft.reason}"
    await unit.record(
        ReplyHeld(
            **_of(draft),
            inbox=draft.inbox,
            text=draft.text,
            shown=frozen.composed.text,
            cc=frozen.composed.cc,
            file_names=frozen.composed.files,
            band="human_only" if level == "human_only" else "review",
            reason=why,
            intent=draft.intent if draft.decision == "reply" else "",
            score=draft.score,
            model=draft.model,
            unsupported=draft.unsupported,
        )
    )
    await unit.record(_called(draft, why))


def _called(draft: ReplyDrafted, reason: str) -> PersonCalled:
    ids = draft.model_dump(include={"reply_id", "thread_id", "participant_id"})
    return PersonCalled(**ids, inbox=draft.inbox, kind="draft_waits", reason=reason)


def _approved(draft: ReplyDrafted, frozen: Frozen, by: str, attached: tuple[SentFile, ...]) -> ReplyApproved:
    return ReplyApproved(
        **_of(draft),
        inbox=draft.inbox,
        message_id=frozen.composed.message_id,
        blob=frozen.blob,
        recipient=frozen.composed.recipient,
        cc=frozen.composed.cc,
        files=tuple(one.blob for one in attached),
        envelope_from=frozen.composed.envelope_from,
        text=draft.text,
        decision="escalate" if draft.decision == "escalate" else "reply",
        state=draft.state,
        goals_add=draft.goals_add,
        goals_close=draft.goals_close,
        citations=draft.citations,
        reason=draft.reason,
        approved_by=by,
        intent=draft.intent if draft.decision == "reply" else "",
        score=draft.score,
        model=draft.model,
    )
