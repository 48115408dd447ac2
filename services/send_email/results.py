"""What attempts and settlements end in, as events of the ledger."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.replies import ReplyApproved, ReplySent
from schemas.events.threads import TimerElapsed


def ids_of(reply: ReplyApproved) -> dict[str, Any]:
    """The ids that every event of the delivery carries."""
    return reply.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})


def sent(reply: ReplyApproved, attempt: int, response: str) -> ReplySent:
    """The reply left; state and goals take effect with this event."""
    return ReplySent(
        **ids_of(reply),
        attempt=attempt,
        response=response[:500],
        text=reply.text,
        decision=reply.decision,
        state=reply.state,
        goals_add=reply.goals_add,
        goals_close=reply.goals_close,
        reason=reply.reason,
    )


def retry_timer(reply: ReplyApproved, due_at: datetime) -> TimerElapsed:
    """The one timer that brings a waiting reply back."""
    return TimerElapsed(
        timer_id=uuid5(reply.reply_id, "retry"),
        thread_id=reply.thread_id,
        purpose="send_retry",
        subject=reply.reply_id,
        due_at=due_at,
    )


def settle_timer(reply_id: UUID, thread_id: UUID, due_at: datetime) -> TimerElapsed:
    """The one timer that has an unknown reply looked for."""
    return TimerElapsed(
        timer_id=uuid5(reply_id, "settle"),
        thread_id=thread_id,
        purpose="send_settle",
        subject=reply_id,
        due_at=due_at,
    )
