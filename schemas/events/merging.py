"""One person under several addresses: participants that are merged, and taken apart again."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData
from schemas.events.memory import ParticipantEvent


class ParticipantMerged(ParticipantEvent):
    """A participant is the same person as another one, `into`: whoever reads one of them reads both."""

    TYPE: ClassVar[str] = "participant.merged.v1"

    into: UUID
    by: str
    reason: str = ""
    settled: tuple[str, ...] = Field((), description="the keys of which both had a value, and how that was settled")


class ParticipantUnmerged(ParticipantEvent):
    """The merge is undone: each is again what was learned under their own address."""

    TYPE: ClassVar[str] = "participant.unmerged.v1"

    into: UUID
    by: str
    reason: str = ""


class ParticipantSplitRequested(EventData):
    """Mails of another mailbox were kept under a participant's id: what was learned from them belongs to `into`.

    Ids were once made by full case folding, which gave `weiß@` and `weiss@` one.
    """

    TYPE: ClassVar[str] = "participant.split_requested.v1"
    TOPIC: ClassVar[str] = "participant-events"

    participant_id: UUID
    into: UUID
    addr: str = Field(description="the mailbox, as its owner writes it")
    name: str = ""
    seen_at: datetime = Field(description="when its last mail came")


class ParticipantMergeRequested(EventData):
    """A person says that two participants are one, or are not; learn_facts decides."""

    TYPE: ClassVar[str] = "participant.merge_requested.v1"
    TOPIC: ClassVar[str] = "participant-events"

    participant_id: UUID
    into: UUID
    op: Literal["merge", "unmerge"]
    by: str
    reason: str = ""
