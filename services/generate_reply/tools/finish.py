"""The three ways to end a turn. State and goals ride on the draft and take effect when the reply is sent."""

from __future__ import annotations

from schemas.model_output import EscalateInput, NoReplyInput, ReplyInput
from services.generate_reply.citing import cited
from services.generate_reply.desk import Decision, Desk


async def reply(given: ReplyInput, desk: Desk) -> str:
    """Answer the customer. What it cites has to have been shown; marks of it do not reach the customer."""
    text, citations = cited(given.text, given.citations, desk)
    desk.decision = Decision(
        kind="reply",
        text=text,
        state=given.state,
        goals_add=tuple(given.goals_add),
        goals_close=tuple(given.goals_close),
        citations=citations,
    )
    return "drafted"


async def no_reply(given: NoReplyInput, desk: Desk) -> str:
    """No answer is needed: the matter is settled."""
    desk.decision = Decision(kind="no_reply", reason=given.reason, state="resolved")
    return "noted"


async def escalate(given: EscalateInput, desk: Desk) -> str:
    """A person takes over; the customer is told so."""
    desk.decision = Decision(kind="escalate", text=given.message_to_customer, reason=given.reason)
    return "escalated"
