"""Decides what is known of a person, facts apart: when they were seen, lifecycle, mood, risk, profile. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.mail import Person
from schemas.events.memory import (
    MailSignals,
    ParticipantSeen,
    ParticipantState,
    ParticipantStateChanged,
    ParticipantTransitionRefused,
    SignalsNoted,
)
from schemas.events.profile import ProfileChanged, ProfileRequested
from services.core.settings import PeopleSettings
from services.learn_facts.participant import Participant
from services.learn_facts.person.issues import known_trouble, report

EDGES: MappingProxyType[ParticipantState, frozenset[ParticipantState]] = MappingProxyType(
    {
        "unknown": frozenset({"prospect", "customer"}),
        "prospect": frozenset({"customer"}),
        "customer": frozenset({"vip", "at_risk"}),
        "vip": frozenset({"at_risk", "customer"}),
        "at_risk": frozenset({"customer", "churned"}),
        "churned": frozenset({"returning"}),
        "returning": frozenset({"customer", "vip", "at_risk"}),
    }
)


def path(from_state: ParticipantState, to_state: ParticipantState) -> tuple[ParticipantState, ...]:
    """The states on the shortest way from one to the other, the last one included; none where they are the same."""
    ways: list[tuple[ParticipantState, ...]] = [()]
    seen = {from_state}
    while ways:
        way = ways.pop(0)
        here = way[-1] if way else from_state
        if here == to_state:
            return way
        further = sorted(EDGES[here] - seen)
        seen.update(further)
        ways += [(*way, one) for one in further]
    return ()


def refusal(from_state: ParticipantState, to_state: str) -> str:
    """Why the step is not allowed, in words; "" if it is."""
    if to_state in EDGES[from_state]:
        return ""
    if to_state not in EDGES:
        return f"there is no state {to_state!r}"
    return f"from {from_state} one can only become {', '.join(sorted(EDGES[from_state]))}"


Trigger = Literal["ai", "human", "system"]
STANDARD = PeopleSettings()
BY_PEOPLE: frozenset[str] = frozenset({"vip"})  # what no mail shows and no model says
TOO_LATE = "older than what is known"

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
    because = refusal(who.state, to_state) or _persons_step(to_state, trigger)
    if because:
        return ParticipantTransitionRefused.model_validate({**common, "to_state": to_state, "refused_because": because})
    return ParticipantStateChanged.model_validate({**common, "to_state": to_state})


def come_back(who: Participant, at: datetime) -> EventData | None:
    """Who had left and writes again returns; nothing for a mail of before they left."""
    if who.state != "churned" or (who.standing_at and at < who.standing_at):
        return None
    return transition(who, "returning", "system", "a former customer writes again")


def _persons_step(to_state: str, trigger: Trigger) -> str:
    return f"only a person here makes somebody {to_state}" if to_state in BY_PEOPLE and trigger != "human" else ""


def lifecycle_steps(
    who: Participant, proposed: str, reason: str, intent: str, said_at: datetime | None = None
) -> list[EventData]:
    """The steps that a turn brings; those of imported mail, `said_at` a moment, only where nothing newer is known."""
    steps = _steps(who, proposed, reason, intent)
    if said_at and who.standing_at and said_at < who.standing_at:
        return [_too_late(one) for one in steps]
    dated = {"said_at": said_at}
    return [one.model_copy(update=dated) if isinstance(one, ParticipantStateChanged) else one for one in steps]


def _too_late(step: EventData) -> EventData:
    if not isinstance(step, ParticipantStateChanged):
        return step
    return ParticipantTransitionRefused.model_validate(
        {**step.model_dump(exclude={"said_at"}), "refused_because": TOO_LATE}
    )


def _steps(who: Participant, proposed: str, reason: str, intent: str) -> list[EventData]:
    """What the model proposes, then what the mail's intent shows, on allowed edges only.

    What an intent shows may be more than a step away: each step is logged for itself.
    """
    shown = shown_by(intent, who.state)
    if proposed and proposed != shown:
        step = transition(who, proposed, "ai", reason)
        moved = replace(who, state=step.to_state) if isinstance(step, ParticipantStateChanged) else who
        return [*([step] if step else []), *_steps(moved, "", "", intent)]
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

    In a thread that is over, so is the trouble that was reported in it. A mail that says that a trouble is over is no
    report of it (`trouble_over`); where it says of none that is known, it speaks of those of its thread.
    """
    in_row = _in_row(who.frustrated_in_row, signals, mails)
    known = known_trouble(signals.issue_key, who.issues) if signals.issue_key else None
    kept = people.mood_memory**mails
    told = who.sentiment if signals.sentiment is None else signals.sentiment
    sentiment = round(kept * who.sentiment + (1 - kept) * told, 4)
    return SignalsNoted(
        participant_id=who.participant_id,
        thread_id=thread_id,
        sentiment=sentiment,
        sentiment_before=None if signals.sentiment is None else who.sentiment,
        frustrated_in_row=in_row,
        risk=risk(in_row, sentiment, who.state, people),
        intent=signals.intent,
        **({} if signals.issue_resolved else report(signals.issue_key, known, thread_id)),
        issue_resolved=thread_over or (signals.issue_resolved and known is None),
        tags=tuple(dict.fromkeys((*signals.tags, *who.tags)))[: people.tags],
        confirms_state=INTENTS.get(signals.intent, (None,))[0] == who.state,
    )


def note_past(
    who: Participant,
    signals: MailSignals,
    thread_id: UUID,
    said_at: datetime,
    people: PeopleSettings = STANDARD,
    *,
    thread_over: bool = False,
) -> SignalsNoted | None:
    """What imported mail leaves: its trouble counts as reported then, and the mood of today stays."""
    kept = signals.model_copy(update={"sentiment": None, "frustrated": None, "tags": ()})
    noted = note_signals(who, kept, thread_id, people, mails=0, thread_over=thread_over)
    return noted.model_copy(update={"said_at": said_at}) if noted.issue_key else None


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


def risk(
    frustrated_in_row: int, sentiment: float, state: str, people: PeopleSettings = STANDARD
) -> Literal["low", "medium", "high"]:
    """How likely we are to lose this customer."""
    if frustrated_in_row >= people.high_risk_after:
        return "high"
    return "medium" if frustrated_in_row or sentiment < people.low_mood or state == "at_risk" else "low"


def seen(
    who: Participant, author: Person, at: datetime, *, space: str = "", others_since: bool = False
) -> ParticipantSeen | None:
    """What a mail of a moment, in a space of memory, adds; None where it adds nothing.

    `others_since`: the same person has written from another address since this one was seen. An older mail than the
    last gives nobody another name.
    """
    event = ParticipantSeen(participant_id=who.participant_id, addr=author.addr, name=author.name, space=space)
    if who.first_seen_at is None or who.last_seen_at is None:
        return event
    newest = at >= who.last_seen_at
    renamed = newest and author.name not in ("", who.name)
    if not (renamed or others_since or at.date() > who.last_seen_at.date() or at.date() < who.first_seen_at.date()):
        return None
    return event if newest else event.model_copy(update={"name": ""})


MOST_FIELDS = 40


def change(participant_id: UUID, stands: Mapping[str, str], command: ProfileRequested) -> ProfileChanged | None:
    """What of a request changes anything; beyond `MOST_FIELDS` no new field is taken."""
    removed = tuple(sorted(set(command.remove) & stands.keys()))
    room = MOST_FIELDS - (len(stands) - len(removed))
    changed = {
        name: value for name, value in command.fields.items() if stands.get(name) != value and name not in removed
    }
    new = [name for name in changed if name not in stands]
    for name in new[max(room, 0) :]:
        del changed[name]
    if not changed and not removed:
        return None
    return ProfileChanged(
        participant_id=participant_id, fields=changed, removed=removed, by=command.by, reason=command.reason
    )
