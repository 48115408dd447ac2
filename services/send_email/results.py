"""What attempts and settlements end in, as events of the ledger."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.replies import ReplyApproved, ReplySent
from schemas.events.threads import TimerElapsed, TimerPurpose


def ids_of(reply: ReplyApproved) -> dict[str, Any]:
    """The ids that every event of the delivery carries."""
    return reply.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


def sent(reply: ReplyApproved, attempt: int, response: str, at: datetime) -> ReplySent:
    """The reply left, at that moment; state and goals take effect with this event."""
    return ReplySent(
        **ids_of(reply),
        attempt=attempt,
        response=response[:500],
        text=reply.text,
        decision=reply.decision,
        state=reply.state,
        goals_add=reply.goals_add,
        goals_close=reply.goals_close,
        citations=reply.citations,
        reason=reply.reason,
        by=reply.by,
        then=reply.then,
        happened_at=at,
    )


def retry_timer(reply: ReplyApproved, due_at: datetime) -> TimerElapsed:
    """The one timer that brings a waiting reply back."""
    return _timer("retry", "send_retry", reply.reply_id, reply.thread_id, due_at)


def retry_timer_id(reply_id: UUID) -> UUID:
    """The id of that timer."""
    return uuid5(reply_id, "retry")


def settle_timer(reply_id: UUID, thread_id: UUID, due_at: datetime) -> TimerElapsed:
    """The one timer that has an unknown reply looked for."""
    return _timer("settle", "send_settle", reply_id, thread_id, due_at)


def copy_timer(reply_id: UUID, thread_id: UUID, due_at: datetime) -> TimerElapsed:
    """The one timer that has the copy in the Sent folder tried again."""
    return _timer("copy", "sent_copy", reply_id, thread_id, due_at)


def _timer(name: str, purpose: TimerPurpose, reply_id: UUID, thread_id: UUID, due_at: datetime) -> TimerElapsed:
    timer_id = uuid5(reply_id, name)
    return TimerElapsed(timer_id=timer_id, thread_id=thread_id, purpose=purpose, subject=reply_id, due_at=due_at)
