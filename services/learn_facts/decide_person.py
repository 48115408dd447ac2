"""Pure decisions about a person: lifecycle, mood, risk, issues."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import MailSignals, ParticipantStateChanged, ParticipantTransitionRefused, SignalsNoted
from services.learn_facts.lifecycle import refusal
from services.learn_facts.participant import KnownIssue, Participant

Trigger = Literal["ai", "human", "system"]

SENTIMENT_MEMORY = 0.6  # share of the old value that stays when a new mail is read
HIGH_RISK_AFTER = 3  # frustrated mails in a row
MAX_TAGS = 20


def transition(
    who: Participant, to_state: str, trigger: Literal["ai", "human", "system"], reason: str
) -> EventData | None:
    """One step of the lifecycle: the change, its refusal, or nothing where they stand there already."""
    if to_state == who.state:
        return None
    common = {"participant_id": who.participant_id, "from_state": who.state, "trigger": trigger, "reason": reason}
    because = refusal(who.state, to_state)
    if because:
        return ParticipantTransitionRefused.model_validate({**common, "to_state": to_state, "refused_because": because})
    return ParticipantStateChanged.model_validate({**common, "to_state": to_state})


def note_signals(who: Participant, signals: MailSignals, thread_id: UUID) -> SignalsNoted:
    """The new values after one more turn."""
    in_row = who.frustrated_in_row + 1 if signals.frustrated else 0
    sentiment = round(SENTIMENT_MEMORY * who.sentiment + (1 - SENTIMENT_MEMORY) * signals.sentiment, 4)
    known = next((one for one in who.issues if one.issue_key == signals.issue_key), None)
    return SignalsNoted(
        participant_id=who.participant_id,
        thread_id=thread_id,
        sentiment=sentiment,
        frustrated_in_row=in_row,
        risk=risk(in_row, sentiment, who.state),
        intent=signals.intent,
        issue_key=signals.issue_key,
        issue_repeats=_reports(known, thread_id) if signals.issue_key else 0,
        issue_resolved=signals.issue_resolved,
        tags=tuple(dict.fromkeys((*signals.tags, *who.tags)))[:MAX_TAGS],
    )


def _reports(known: KnownIssue | None, thread_id: UUID) -> int:
    """How often the trouble was reported: another mail about an open one, in the same thread, is no new report."""
    if known is None:
        return 1
    return known.reports + (known.resolved or known.thread_id != thread_id)


def risk(frustrated_in_row: int, sentiment: float, state: str) -> Literal["low", "medium", "high"]:
    """How likely we are to lose this customer."""
    if frustrated_in_row >= HIGH_RISK_AFTER:
        return "high"
    return "medium" if frustrated_in_row or sentiment < -0.4 or state == "at_risk" else "low"
