"""The three ways to end a turn. State and goals ride on the draft and take effect when the reply is sent."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.model_output import EscalateInput, NoReplyInput, ReplyInput
from services.generate_reply.citations import bare_id, cited
from services.generate_reply.desk import Decision, Desk, shown_in
from services.generate_reply.instructions import gives_away
from services.generate_reply.tools.refusal import CallRefused


async def reply(given: ReplyInput, desk: Desk) -> str:
    """Answer the customer. What it cites has to have been shown; marks of it do not reach the customer."""
    _open_goals(given.goals_close, desk)
    _keeps_instructions(given.text)
    text, citations, facts = cited(given.text, given.citations, desk)
    desk.decision = Decision(
        kind="reply",
        text=text,
        state=given.state,
        goals_add=tuple(given.goals_add),
        goals_close=tuple(given.goals_close),
        citations=citations,
        facts_cited=facts,
        attach=_attached(given.attach, desk),
        intent=given.intent,
    )
    return "drafted"


async def no_reply(given: NoReplyInput, desk: Desk) -> str:
    """No answer is needed: the matter is settled, or the customer has the next word ("I'll send it tomorrow")."""
    _open_goals(given.goals_close, desk)
    state = "resolved" if given.settled else "awaiting_reply"
    desk.decision = Decision(kind="no_reply", reason=given.reason, state=state, goals_close=tuple(given.goals_close))
    return "noted"


async def escalate(given: EscalateInput, desk: Desk) -> str:
    """A person takes over; the customer is told so."""
    _keeps_instructions(given.message_to_customer)
    desk.decision = Decision(kind="escalate", text=given.message_to_customer, reason=given.reason)
    return "escalated"


def _open_goals(named: Iterable[str], desk: Desk) -> None:
    """Raises `CallRefused` where a goal that is to be closed is not open in this thread."""
    goals = [str(goal) for item in shown_in(desk.event, "thread") for goal in item.get("goals", ())]
    known = {goal.casefold() for goal in goals}
    unknown = [one for one in named if one.casefold() not in known]
    if unknown:
        raise CallRefused(f"no such goal is open: {'; '.join(unknown)}. Open are: {'; '.join(goals) or 'none'}")


def _keeps_instructions(text: str) -> None:
    """Raises `CallRefused` where a text for the customer repeats what only the model is told."""
    if said := gives_away(text):
        raise CallRefused(f"this repeats your instructions ({said[:100]}): answer in your own words, or escalate")


def _attached(named: Iterable[str], desk: Desk) -> tuple[str, ...]:
    """The passages whose files go along, in order. Raises `CallRefused` for what was not shown, or may not go out."""
    ids = tuple(dict.fromkeys(map(bare_id, named)))
    for one in ids:
        if one not in desk.sendable:
            raise CallRefused(f"the file of {one[:100]} may not be attached; reply without it, or escalate")
    return ids
