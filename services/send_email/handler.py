"""Which event is whose: policy on drafts, attempts at approved replies, what comes back, and turns that end."""

from __future__ import annotations

from schemas.events.answers import ReplyAccepted, ReplyCancelRequested
from schemas.events.mail import EmailRead
from schemas.events.replies import (
    DeliverySettled,
    DraftDecided,
    ReplyApproved,
    ReplyDrafted,
    ReplySent,
    ReplyUnknown,
    SuppressionLiftRequested,
)
from schemas.events.threads import TimerElapsed, TurnClosed
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.send_email.deliver import deliver
from services.send_email.person import on_accepted, on_cancel, on_turn_closed
from services.send_email.policy import on_decided, on_draft
from services.send_email.sent_folder import copy, on_sent
from services.send_email.settlement import look, on_settled, on_unknown
from services.send_email.suppressions import on_email, on_lift


async def on_approved(work: Work[ReplyApproved]) -> None:
    """The first attempt, unless the reply waits for a timer that will make it."""
    await deliver(work, work.event.reply_id, unless_timed=True)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """A later attempt, a look for a reply that is unknown, or another try at its copy."""
    timer = work.event
    if timer.subject is None:
        return
    if timer.purpose == "send_retry":
        await deliver(work, timer.subject)
    elif timer.purpose == "send_settle":
        await look(work, timer.subject)
    elif timer.purpose == "sent_copy":
        await copy(work, timer.subject)


HANDLERS: Handlers = {
    ReplyDrafted: on_draft,
    DraftDecided: on_decided,
    ReplyAccepted: on_accepted,
    ReplyCancelRequested: on_cancel,
    TurnClosed: on_turn_closed,
    ReplyApproved: on_approved,
    ReplySent: on_sent,
    ReplyUnknown: on_unknown,
    DeliverySettled: on_settled,
    SuppressionLiftRequested: on_lift,
    TimerElapsed: on_timer,
    EmailRead: on_email,
}
