"""What an event makes of what is known of a person, facts apart: the same as `apply` makes of the rows. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from schemas.events import memory as ev
from schemas.events.base import EventData
from services.learn_facts.participant import Brief, Evolve, KnownIssue, Participant, Session
from services.memory.brief_version import version_of


def _seen(who: Participant, event: ev.ParticipantSeen, at: datetime) -> Participant:
    said = event.seen_at or at
    return replace(
        who,
        exists=True,
        name=event.name or who.name,
        space=who.space if who.exists else event.space,
        first_seen_at=min(said, who.first_seen_at or said),
        last_seen_at=max(said, who.last_seen_at or said),
    )


def _state_changed(who: Participant, event: ev.ParticipantStateChanged, at: datetime) -> Participant:
    if not who.exists:
        return who
    return replace(who, state=event.to_state, standing_at=_later(who.standing_at, event.said_at or at))


def _signals_noted(who: Participant, event: ev.SignalsNoted, at: datetime) -> Participant:
    said = event.said_at or at
    if who.exists:
        stands = _later(who.standing_at, said) if event.confirms_state else who.standing_at
        who = replace(
            who,
            sentiment=event.sentiment,
            frustrated_in_row=event.frustrated_in_row,
            tags=event.tags,
            standing_at=stands,
        )
    if event.issue_key:
        who = _reported(who, event, said)
    return _over(who, lambda one: one.thread_id == event.thread_id) if event.issue_resolved else who


def _later(known: datetime | None, said: datetime) -> datetime:
    return max(known or said, said)


def _reported(who: Participant, event: ev.SignalsNoted, said: datetime) -> Participant:
    """One more report; one from before the last that is known counts, and changes nothing else."""
    new = KnownIssue(event.issue_key, event.issue_repeats, event.issue_resolved, event.thread_id, said)
    known = next((one for one in who.issues if one.issue_key == event.issue_key), None)
    if known is not None and said < known.last_at:
        new = replace(known, reports=event.issue_repeats)
    return _with(who, (*(one for one in who.issues if one is not known), new))


def _issues_resolved(who: Participant, event: ev.IssuesResolved, at: datetime) -> Participant:
    if event.issue_key:
        return _over(who, lambda one: one.issue_key == event.issue_key)
    return _over(who, lambda one: one.thread_id == event.thread_id)


def _over(who: Participant, is_meant: Callable[[KnownIssue], bool]) -> Participant:
    return _with(who, (replace(one, resolved=True) if is_meant(one) else one for one in who.issues))


def _with(who: Participant, issues: Iterable[KnownIssue]) -> Participant:
    return replace(who, issues=tuple(sorted(issues, key=lambda one: one.issue_key)))


def _brief_written(who: Participant, event: ev.BriefWritten, at: datetime) -> Participant:
    return replace(who, brief=Brief(event.text, _kept(who, event)))


def _brief_diverged(who: Participant, event: ev.BriefDiverged, at: datetime) -> Participant:
    known = who.brief
    return who if known is None else replace(who, brief=Brief(known.text, (*_kept(who, event), event.text)))


def _kept(who: Participant, event: ev.BriefWritten | ev.BriefDiverged) -> tuple[str, ...]:
    return tuple(text for text in (who.brief.beside if who.brief else ()) if version_of(text) in event.keeps)


def _session_noted(who: Participant, event: ev.SessionNoted, at: datetime) -> Participant:
    noted = Session(event.thread_id, event.summary, event.entities, event.actions, event.expires_at)
    return replace(who, session=noted)


EVOLVE: Mapping[type[EventData], Evolve] = MappingProxyType(
    {
        ev.ParticipantSeen: _seen,
        ev.ParticipantStateChanged: _state_changed,
        ev.SignalsNoted: _signals_noted,
        ev.IssuesResolved: _issues_resolved,
        ev.BriefWritten: _brief_written,
        ev.BriefDiverged: _brief_diverged,
        ev.SessionNoted: _session_noted,
    }
)
