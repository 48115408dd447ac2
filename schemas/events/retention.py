"""What is kept no longer: what falls due by the settings' retention, and what the tables' owners let go of."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import ParticipantEvent
from schemas.events.threads import ThreadEvent


class BodiesExpired(ThreadEvent):
    """The texts of a thread's older messages are kept no longer; the rows stay, without them."""

    TYPE: ClassVar[str] = "thread.bodies_expired.v1"

    before: datetime


class MailRetentionDue(EventData):
    """Mails are older than their texts are to be kept; read_email decides which of them let go."""

    TYPE: ClassVar[str] = "mail.retention_due.v1"
    TOPIC: ClassVar[str] = "inbound-email.raw"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"due_at"})

    mail_id: UUID
    mail_ids: tuple[UUID, ...]
    due_at: datetime


class MailBodyExpired(EventData):
    """The text of a mail, and of what was attached, is kept no longer."""

    TYPE: ClassVar[str] = "mail.body_expired.v1"
    TOPIC: ClassVar[str] = "inbound-email"
    AGGREGATE: ClassVar[str] = "mail"

    mail_id: UUID
    thread_id: UUID
    participant_id: UUID | None = None

    def aggregate_id(self) -> UUID:
        """The mail."""
        return self.mail_id

    def shared_in(self) -> UUID | None:
        """It says nothing that anybody wrote."""
        return None


class MemoryRetentionDue(EventData):
    """Something remembered of a participant is older than it is to be kept; learn_facts decides what goes."""

    TYPE: ClassVar[str] = "participant.retention_due.v1"
    TOPIC: ClassVar[str] = "participant-events"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"due_at"})

    participant_id: UUID
    due_at: datetime


class MemoryExpired(ParticipantEvent):
    """Facts, relations and decisions about them that nothing has renewed for so long are gone."""

    TYPE: ClassVar[str] = "participant.memory_expired.v1"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"before"})

    before: datetime
    fact_ids: tuple[UUID, ...] = ()
    relation_ids: tuple[UUID, ...] = ()
