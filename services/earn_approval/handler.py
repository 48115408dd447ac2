"""What becomes of a draft is counted once, under its intent's lock; then it is decided whether it opens or closes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.approvals import ApprovalCounted, ApprovalRequested, Outcome
from schemas.events.replies import HUMAN_ANSWERED, ReplyApproved, ReplyDiscarded
from schemas.events.threads import StateChanged, TurnClosed
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.ids import approval_id
from services.earn_approval.apply import SQL
from services.earn_approval.decide import Pattern, requested, step_after
from services.mail.sender import sender_of

CAME_UP_AGAIN = frozenset({"sent", "escalated", "human_took_over"})  # ends of a turn that a "thanks" does not have


async def on_approved(work: Work[ReplyApproved]) -> None:
    """A person approved a draft of the agent, as it was or in their own words."""
    reply = work.event
    by_person = reply.approved_by != "policy" and not reply.by
    if by_person and reply.intent:
        outcome: Outcome = "edited" if reply.edited else "unchanged"
        await _count(work, {"inbox": reply.inbox, "intent": reply.intent}, reply.reply_id, outcome, reply.edited)


async def on_discarded(work: Work[ReplyDiscarded]) -> None:
    """A person rejected a draft, or answered in its place. One that a newer mail overtook says nothing."""
    if work.event.overtaken and work.event.reason != HUMAN_ANSWERED:
        return
    async with work.reading() as conn:
        row = await fetch_one(conn, SQL.draft, {"reply_id": work.event.reply_id})
    if row is not None:
        await _count(work, row, work.event.reply_id, "answered_by_hand" if work.event.overtaken else "rejected")


async def on_turn_closed(work: Work[TurnClosed]) -> None:
    """What the reply before this turn had settled came up again."""
    if work.event.outcome in CAME_UP_AGAIN:
        await _aftermath(work, SQL.reopened, "reopened", turn_id=work.event.turn_id)


async def on_state_changed(work: Work[StateChanged]) -> None:
    """What the last reply had settled stayed so until the thread was closed."""
    if (work.event.from_state, work.event.to_state) == ("resolved", "closed"):
        await _aftermath(work, SQL.last_reply, "held")


async def on_requested(work: Work[ApprovalRequested]) -> None:
    """A person opens or closes an intent."""
    settings = work.app.settings.approval
    async with work.unit() as unit:
        await unit.lock("approval", work.event.approval_id)
        step = requested(work.event, await _pattern(unit, work.event.approval_id, settings.over), settings)
        if step is not None:
            await unit.record(step)


async def _aftermath(work: Work[Any], query: Any, outcome: Outcome, **more: UUID) -> None:
    at: datetime = work.now
    async with work.reading() as conn:
        row = await fetch_one(conn, query, {"thread_id": work.event.thread_id, "at": at, **more})
    if row is not None:
        await _count(work, row, row["reply_id"], outcome)


async def _count(work: Work[Any], of: dict[str, Any], reply_id: UUID, outcome: Outcome, edited: float = 0) -> None:
    settings = work.app.settings.approval
    id = approval_id(work.workspace, of["inbox"], of["intent"])
    named = {"approval_id": id, "inbox": of["inbox"], "intent": of["intent"]}
    counted = ApprovalCounted(**named, reply_id=reply_id, outcome=outcome, edited=edited)
    async with work.unit() as unit:
        await unit.lock("approval", id)
        if await unit.one(SQL.counted, approval_id=id, reply_id=reply_id, outcome=outcome):
            return
        await unit.record(counted)
        step = step_after(counted, await _pattern(unit, id, settings.over), settings)
        if step is not None:
            await unit.record(step)


async def _pattern(unit: Unit, id: UUID, over: int) -> Pattern:
    row = await unit.one(SQL.approval, approval_id=id)
    decisions = await unit.all(SQL.decisions, approval_id=id, over=over)
    unchanged = (one["recipient"] for one in decisions if one["outcome"] == "unchanged" and one["recipient"])
    return Pattern(
        bool(row and row["is_open"]), tuple(one["outcome"] for one in decisions), set(map(sender_of, unchanged))
    )


HANDLERS: Handlers = {
    ReplyApproved: on_approved,
    ReplyDiscarded: on_discarded,
    TurnClosed: on_turn_closed,
    StateChanged: on_state_changed,
    ApprovalRequested: on_requested,
}
