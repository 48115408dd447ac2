"""Pure decisions about the short-term session: what the last 24 hours with somebody were about; activity extends it.

Invariant: it holds what was accepted, never what was only proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, RelationRecorded, SessionNoted, TurnReflected
from services.core.settings import SessionSettings
from services.learn_facts.participant import Participant, Session

STANDARD = SessionSettings()
LONGEST_ENTITY = 60  # characters

OUTCOMES: Mapping[str, str] = MappingProxyType(
    {
        "drafted": "a reply is written and waits to be sent",
        "sent": "we replied",
        "no_reply": "no reply was needed",
        "escalated": "a person was called",
        "human_took_over": "a person answered",
        "rejected": "a person rejected the draft",
        "failed": "we could not answer, and a person was called",
    }
)
DONE = frozenset({"action", "resolution"})  # kinds of facts that tell what was done


def noted(
    who: Participant,
    turn: TurnReflected,
    learned: Sequence[EventData],
    now: datetime,
    settings: SessionSettings = STANDARD,
) -> SessionNoted:
    """The session after one more turn, from what was learned of it; what was known of one that still runs is kept."""
    running = live(who, now)
    return SessionNoted(
        participant_id=who.participant_id,
        thread_id=turn.thread_id,
        summary=turn.summary,
        expires_at=now + timedelta(hours=settings.hours),
        entities=_latest((*_entities(who, turn, learned), *(running.entities if running else ())), settings.names),
        actions=_latest((*_actions(turn, learned, now), *(running.actions if running else ())), settings.actions),
    )


def extended(who: Participant, now: datetime, settings: SessionSettings = STANDARD) -> SessionNoted | None:
    """They wrote again while the session runs: it lasts for as long again."""
    running = live(who, now)
    return _renoted(who, running, expires_at=now + timedelta(hours=settings.hours)) if running else None


def ended(
    who: Participant, turn: TurnReflected, now: datetime, settings: SessionSettings = STANDARD
) -> SessionNoted | None:
    """A turn ended that was learned from while its reply waited: how it did is noted where a session runs."""
    running = live(who, now)
    if running is None:
        return None
    return _renoted(who, running, actions=_latest((*_actions(turn, (), now), *running.actions), settings.actions))


def _renoted(who: Participant, running: Session, **changes: Any) -> SessionNoted:
    """The session that runs, with changes."""
    return SessionNoted(participant_id=who.participant_id, **{**asdict(running), **changes})


def live(who: Participant, now: datetime) -> Session | None:
    """The session, if it is not over."""
    return who.session if who.session and who.session.expires_at > now else None


def _entities(who: Participant, turn: TurnReflected, learned: Iterable[EventData]) -> Iterator[str]:
    """Ends of edges, then the values of facts that a mail of the turn supports."""
    edges = [one for one in learned if isinstance(one, RelationRecorded) and one.op != "delete"]
    named = [name for one in edges for name in (one.subject, one.object)]
    said = [fact.value for fact in who.facts if any(one.mail_id in turn.mail_ids for one in fact.supports)]
    yield from (name for name in (*named, *said) if len(name) <= LONGEST_ENTITY)


def _actions(turn: TurnReflected, learned: Iterable[EventData], now: datetime) -> Iterator[str]:
    done = [one.text or one.value for one in learned if isinstance(one, FactRecorded) and one.kind in DONE]
    yield from (f"{now:%Y-%m-%d %H:%M} {what}" for what in (OUTCOMES.get(turn.outcome, turn.outcome), *done))


def _latest(names: Iterable[str], most: int) -> tuple[str, ...]:
    """Each once, whatever its case, the first ones kept."""
    kept: dict[str, str] = {}
    for name in names:
        told = " ".join(name.split())
        if told:
            kept.setdefault(told.casefold(), told)
    return tuple(kept.values())[:most]
