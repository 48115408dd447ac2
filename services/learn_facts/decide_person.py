"""Pure decisions about a person: lifecycle, mood, risk, issues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import (
    IssuesResolved,
    MailSignals,
    ParticipantState,
    ParticipantStateChanged,
    ParticipantTransitionRefused,
    SignalsNoted,
)
from services.core.settings import PeopleSettings
from services.learn_facts.issues import known_trouble
from services.learn_facts.lifecycle import path, refusal
from services.learn_facts.participant import KnownIssue, Participant

Trigger = Literal["ai", "human", "system"]
STANDARD = PeopleSettings()

_NOT_YET: frozenset[ParticipantState] = frozenset({"unknown", "prospect", "at_risk", "churned", "returning"})
_STAYING: frozenset[ParticipantState] = frozenset({"unknown", "prospect", "customer", "vip", "returning"})
INTENTS: Mapping[str, tuple[ParticipantState, frozenset[ParticipantState]]] = MappingProxyType(
    {
        "pricing_question": ("prospect", frozenset({"unknown"})),
        "purchase": ("customer", _NOT_YET),
        "renewal": ("customer", _NOT_YET),
        "competitor": ("at_risk", _STAYING),
        "cancellation": ("at_risk", _STAYING),
    }
)  # by a mail's intent: the state that it shows, and the states of which that is news


def transition(who: Participant, to_state: str, trigger: Trigger, reason: str) -> EventData | None:
    """One step of the lifecycle: the change, its refusal, or nothing where they stand there already."""
    if to_state == who.state:
        return None
    common = {"participant_id": who.participant_id, "from_state": who.state, "trigger": trigger, "reason": reason}
    because = refusal(who.state, to_state)
    if because:
        return ParticipantTransitionRefused.model_validate({**common, "to_state": to_state, "refused_because": because})
    return ParticipantStateChanged.model_validate({**common, "to_state": to_state})


def standing(who: Participant, proposed: str, reason: str, intent: str) -> list[EventData]:
    """The steps that a turn brings: what the model proposes, then what the mail's intent shows, on allowed edges only.

    What an intent shows may be more than a step away: each step is logged for itself.
    """
    shown = shown_by(intent, who.state)
    if proposed and proposed != shown:
        step = transition(who, proposed, "ai", reason)
        moved = replace(who, state=step.to_state) if isinstance(step, ParticipantStateChanged) else who
        return [*([step] if step else []), *standing(moved, "", "", intent)]
    trigger: Trigger
    trigger, because = ("ai", reason) if proposed else ("system", f"the mail shows it: {intent.replace('_', ' ')}")
    steps: list[EventData] = []
    for state in path(who.state, shown) if shown else ():
        step = transition(who, state, trigger, because)
        steps += [step] if step else []
        who = replace(who, state=state)
    return steps


def shown_by(intent: str, state: ParticipantState) -> ParticipantState | None:
    """The state that a mail of this intent shows its author to be in; None where it shows nothing new."""
    shown, of = INTENTS.get(intent, (state, frozenset()))
    return shown if state in of else None


def note_signals(
    who: Participant,
    signals: MailSignals,
    thread_id: UUID,
    people: PeopleSettings = STANDARD,
    *,
    mails: int = 1,
    thread_over: bool = False,
) -> SignalsNoted:
    """The new values after one more turn of `mails` mails that were not counted before.

    In a thread that is over, so is the trouble that was reported in it.
    """
    in_row = _in_row(who.frustrated_in_row, signals, mails)
    kept = people.mood_memory**mails
    told = who.sentiment if signals.sentiment is None else signals.sentiment
    sentiment = round(kept * who.sentiment + (1 - kept) * told, 4)
    known = known_trouble(signals.issue_key, who.issues) if signals.issue_key else None
    return SignalsNoted(
        participant_id=who.participant_id,
        thread_id=thread_id,
        sentiment=sentiment,
        frustrated_in_row=in_row,
        risk=risk(in_row, sentiment, who.state, people),
        intent=signals.intent,
        issue_key=known.issue_key if known else signals.issue_key,
        issue_repeats=_reports(known, thread_id) if signals.issue_key else 0,
        issue_resolved=signals.issue_resolved or thread_over,
        tags=tuple(dict.fromkeys((*signals.tags, *who.tags)))[: people.tags],
    )


def _in_row(before: int, signals: MailSignals, mails: int) -> int:
    """Frustrated mails in a row: a calm mail ends the row, and the row goes on over turns.

    A turn of which nobody could tell does neither.
    """
    if mails == 0 or signals.frustrated is None:
        return before
    if not signals.frustrated:
        return 0
    newest = min(signals.frustrated_mails or mails, mails)
    return before + mails if newest == mails else newest


def issues_over(who: Participant, thread_id: UUID) -> IssuesResolved | None:
    """The thread was resolved: what they reported in it is over, where it is not already."""
    if any(one.thread_id == thread_id and not one.resolved for one in who.issues):
        return IssuesResolved(participant_id=who.participant_id, thread_id=thread_id)
    return None


def _reports(known: KnownIssue | None, thread_id: UUID) -> int:
    """How often the trouble was reported: another mail about an open one, in the same thread, is no new report."""
    if known is None:
        return 1
    return known.reports + (known.resolved or known.thread_id != thread_id)


def risk(
    frustrated_in_row: int, sentiment: float, state: str, people: PeopleSettings = STANDARD
) -> Literal["low", "medium", "high"]:
    """How likely we are to lose this customer."""
    if frustrated_in_row >= people.high_risk_after:
        return "high"
    return "medium" if frustrated_in_row or sentiment < people.low_mood or state == "at_risk" else "low"
