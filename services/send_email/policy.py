"""Policy on drafts: approved, held for a person, discarded or refused; and what a person decides about a held one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemas.events.alerts import PersonCalled
from schemas.events.replies import DraftDecided, ReplyApproved, ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplyHeld
from services.core.bus import history
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_all, fetch_one
from services.core.ids import text_sha256
from services.core.keys import is_sealed
from services.core.mail.compose import Composed, ComposeRefused, links_in
from services.core.memory.knowledge import chunk_ids, passages_by_id
from services.core.settings import SettingsWrong
from services.send_email.apply import SQL
from services.send_email.deliver import overtaken
from services.send_email.draft import freeze
from services.send_email.sources import public_pages
from services.send_email.suppressions import RecipientSuppressed, refuse_suppressed


@dataclass(frozen=True, slots=True)
class Frozen:
    """A finished message and its name in the blob store."""

    composed: Composed
    blob: str


@dataclass(frozen=True, slots=True)
class Unwritable:
    """No such mail may be written, and why, in words."""

    reason: str


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """Freeze the reply and approve it, hold it for a person, discard it, or say why it may not be written."""
    draft = work.event
    if draft.decision == "no_reply":
        return
    frozen = await _frozen(work, draft, automatic=True)
    approval = draft.approval or work.house.settings.send.approval
    held = approval == "review"
    async with work.unit() as unit:
        await unit.lock("thread", draft.thread_id)
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not:
            await unit.record(ReplyDiscarded(**_of(draft), reason=why_not, overtaken=True))
        elif held and isinstance(frozen, Frozen):
            held_draft = _held(draft)
            await unit.record(held_draft)
            await unit.record(_called(draft, held_draft.reason))
        else:
            await _end(unit, draft, frozen, "policy")


async def on_decided(work: Work[DraftDecided]) -> None:
    """A person's word on a held draft. Said twice it is said once; about another text it is not said at all.

    Nor about one that nobody can read any more, since somebody was erased.
    """
    decided = work.event
    key = {"thread_id": str(decided.thread_id), "reply_id": str(decided.reply_id)}
    async with work.reading() as conn:
        found = await fetch_one(conn, SQL.draft, key)
    if found is None or is_sealed(found["data"]):
        return
    draft = history.envelope(found).data
    assert isinstance(draft, ReplyDrafted)
    final = draft.model_copy(update={"text": decided.text, "citations": ()}) if decided.text else draft
    frozen = await _frozen(work, final, automatic=False) if decided.approve else None
    async with work.unit() as unit:
        if not await _still_asked(unit, decided, draft):
            return
        why_not = await overtaken(unit, draft.thread_id, draft.turn_id)
        if why_not or frozen is None:
            reason = why_not or f"{decided.by} rejected it: {decided.reason}"
            await unit.record(ReplyDiscarded(**_of(draft), reason=reason, overtaken=bool(why_not)))
        else:
            await _end(unit, final, frozen, decided.by)


async def _still_asked(unit: Unit, decided: DraftDecided, draft: ReplyDrafted) -> bool:
    """Whether the draft waits, and text and thread are those that the person saw. Both stay locked."""
    version = await unit.lock("thread", draft.thread_id)
    await unit.lock("delivery", draft.reply_id)
    row = await unit.one(SQL.delivery, reply_id=draft.reply_id)
    waits = row is not None and row["state"] == "draft"
    return waits and await _same_thread(unit, decided, version) and decided.text_sha256 == text_sha256(draft.text)


async def _same_thread(unit: Unit, decided: DraftDecided, version: int) -> bool:
    """Whether nothing has come into the thread since the person looked; what the agent did while it wrote may have."""
    if decided.thread_version in (None, version):
        return True
    args = {"workspace": unit.workspace, "thread_id": decided.thread_id, "seen": decided.thread_version}
    return await unit.one(SQL.changed_since, **args, version=version) is None


async def _end(unit: Unit, draft: ReplyDrafted, frozen: Frozen | Unwritable, by: str) -> None:
    if isinstance(frozen, Frozen):
        await unit.record(_approved(draft, frozen, by))
    else:
        await unit.record(ReplyFailed(**_of(draft), inbox=draft.inbox, attempt=0, error=frozen.reason[:500]))


async def _frozen(work: Work[Any], draft: ReplyDrafted, *, automatic: bool) -> Frozen | Unwritable:
    """The MIME of a draft, or why there is none."""
    async with work.reading() as conn:
        mail = await fetch_one(conn, SQL.newest_mail, {"mail_ids": list(draft.mail_ids)})
        wanted = {"workspace": work.workspace, "links": links_in(draft.text)}
        passages = await fetch_all(conn, SQL.passages_with, wanted) if wanted["links"] else []
        cited = await passages_by_id(conn, work.workspace, chunk_ids(draft.citations))
    assert mail is not None
    known = frozenset(link for row in passages for link in links_in(row["text"]))
    pages = public_pages(cited.values()) if work.house.settings.knowledge.cite_in_mail else {}
    try:
        composed = freeze(
            draft, mail, work.house, work.workspace, work.now, known_links=known, pages=pages, automatic=automatic
        )
        async with work.reading() as conn:
            await refuse_suppressed(conn, work.workspace, composed.recipient)
    except (ComposeRefused, RecipientSuppressed, SettingsWrong) as error:
        return Unwritable(str(error))
    return Frozen(composed, await work.keep(composed.raw))


def _of(draft: ReplyDrafted) -> dict[str, Any]:
    return draft.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


def _held(draft: ReplyDrafted) -> ReplyHeld:
    why = "a person approves each reply"
    if draft.decision == "escalate":
        why = f"{why}; the agent hands over: {draft.reason}"
    return ReplyHeld(**_of(draft), inbox=draft.inbox, text=draft.text, band="review", reason=why)


def _called(draft: ReplyDrafted, reason: str) -> PersonCalled:
    ids = draft.model_dump(include={"reply_id", "thread_id", "participant_id"})
    return PersonCalled(**ids, inbox=draft.inbox, kind="draft_waits", reason=reason)


def _approved(draft: ReplyDrafted, frozen: Frozen, by: str) -> ReplyApproved:
    return ReplyApproved(
        **_of(draft),
        inbox=draft.inbox,
        message_id=frozen.composed.message_id,
        blob=frozen.blob,
        recipient=frozen.composed.recipient,
        envelope_from=frozen.composed.envelope_from,
        text=draft.text,
        decision="escalate" if draft.decision == "escalate" else "reply",
        state=draft.state,
        goals_add=draft.goals_add,
        goals_close=draft.goals_close,
        citations=draft.citations,
        reason=draft.reason,
        approved_by=by,
    )
