"""What learn_facts knows of a participant when it decides: a value, read under the participant's lock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from schemas.events.memory import ParticipantState, Trust
from services.memory.support import Support

LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def _last_said(supports: Iterable[Support], since: datetime) -> datetime:
    return max((one.said_at for one in supports if one.said_at), default=since)


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
    text: str = ""
    expires_at: datetime | None = None
    pinned: bool = False
    stale: bool = False
    parents: tuple[UUID, ...] = ()
    members: tuple[UUID, ...] = ()
    apart_from: tuple[UUID, ...] = ()
    recorded_at: datetime = LONG_AGO

    @property
    def confirmed_at(self) -> datetime:
        """When it was last said to be so (valid time)."""
        return _last_said(self.supports, self.valid_from)

    @property
    def for_a_while(self) -> bool:
        """Whether it stands, until its end, over the one value that its key has (`rivals`)."""
        return self.expires_at is not None and not self.single_valued

    def is_over(self, at: datetime) -> bool:
        """Whether it has ended by itself by then."""
        return self.expires_at is not None and self.expires_at <= at


@dataclass(frozen=True, slots=True)
class PastFact:
    """A fact that is not the current value any more: so until `valid_to`, or believed never to have been so."""

    fact_id: UUID
    key: str
    value: str
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    withdrawn_at: datetime | None
    single_valued: bool
    supports: tuple[Support, ...] = ()
    members: tuple[UUID, ...] = ()

    @property
    def confirmed_at(self) -> datetime:
        """When it was last said to be so (valid time)."""
        return _last_said(self.supports, self.valid_from)


Held = KnownFact | PastFact


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A trouble that the participant reported."""

    issue_key: str
    reports: int
    resolved: bool
    thread_id: UUID
    last_at: datetime = LONG_AGO


@dataclass(frozen=True, slots=True)
class Session:
    """The last hours with a participant, until `expires_at`."""

    thread_id: UUID
    summary: str
    entities: tuple[str, ...]
    actions: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant as they stand. `exists` is False before their first authenticated mail.

    Times are valid times: `standing_at` is when somebody last said or showed where they stand.
    """

    participant_id: UUID
    exists: bool = False
    name: str = ""
    state: ParticipantState = "unknown"
    standing_at: datetime | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None
    sentiment: float = 0.0
    frustrated_in_row: int = 0
    tags: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()
    past: tuple[PastFact, ...] = ()
    issues: tuple[KnownIssue, ...] = field(default=())
    session: Session | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The mail that a proposal cites: where its quote has to stand.

    `mail_id` is None for a mail of our own, which is then `reply_id`. `our_words` is what we wrote to its
    author before it.
    """

    mail_id: UUID | None
    thread_id: UUID
    message_id: str
    text: str
    received_at: datetime
    sent_at: datetime | None
    history: bool
    trusted: bool
    reply_id: UUID | None = None
    our_words: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether we wrote it."""
        return self.reply_id is not None
