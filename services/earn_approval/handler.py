"""What becomes of a draft is counted once, under its intent's lock; then it is decided whether it opens or closes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.approvals import ApprovalCounted, ApprovalRequested, Outcome
from schemas.events.replies import HUMAN_ANSWERED, ReplyApproved, ReplyDiscarded
from schemas.events.threads import StateChanged, TurnClosed
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.ids import approval_id
from services.earn_approval.apply import SQL
from services.earn_approval.decide import decide
from services.earn_approval.pattern import load

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
    await _decide(work, work.event)


async def _aftermath(work: Work[Any], query: Any, outcome: Outcome, **more: UUID) -> None:
    at: datetime = work.now
    async with work.reading() as conn:
        row = await fetch_one(conn, query, {"thread_id": work.event.thread_id, "at": at, **more})
    if row is not None:
        await _count(work, row, row["reply_id"], outcome)


async def _count(work: Work[Any], of: dict[str, Any], reply_id: UUID, outcome: Outcome, edited: float = 0) -> None:
    id = approval_id(work.workspace, of["inbox"], of["intent"])
    named = {"approval_id": id, "inbox": of["inbox"], "intent": of["intent"]}
    await _decide(work, ApprovalCounted(**named, reply_id=reply_id, outcome=outcome, edited=edited))


async def _decide(work: Work[Any], command: ApprovalCounted | ApprovalRequested) -> None:
    settings = work.app.settings.approval
    counted = command if isinstance(command, ApprovalCounted) else None
    async with work.unit() as unit:
        pattern = await load(unit, command.approval_id, settings.over, counted)
        for event in decide(pattern, command, unit.now, settings):
            await unit.record(event)


HANDLERS: Handlers = {
    ReplyApproved: on_approved,
    ReplyDiscarded: on_discarded,
    TurnClosed: on_turn_closed,
    StateChanged: on_state_changed,
    ApprovalRequested: on_requested,
}
