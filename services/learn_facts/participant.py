"""What learn_facts knows of a participant when it decides: a value, read under the participant's lock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from schemas.events.memory import ParticipantState, Trust
from services.learn_facts.policy import Support


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that is believed now, and what supports it."""

    fact_id: UUID
    kind: str
    key: str
    value: str
    trust: Trust
    valid_from: datetime
    single_valued: bool
    supports: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A trouble that the participant reported."""

    issue_key: str
    reports: int
    resolved: bool
    thread_id: UUID


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant as they stand. `exists` is False before their first authenticated mail."""

    participant_id: UUID
    exists: bool = False
    name: str = ""
    state: ParticipantState = "unknown"
    sentiment: float = 0.0
    frustrated_in_row: int = 0
    tags: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()
    issues: tuple[KnownIssue, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Source:
    """The mail that a proposal cites: where its quote has to stand."""

    mail_id: UUID
    thread_id: UUID
    message_id: str
    text: str
    received_at: datetime
    sent_at: datetime | None
    history: bool
    trusted: bool
