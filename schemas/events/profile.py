"""The profile of a participant: fields that people keep, apart from what the agent learned."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData
from schemas.events.memory import ParticipantEvent


class ProfileChanged(ParticipantEvent):
    """Fields of the profile were set or removed: only those that changed."""

    TYPE: ClassVar[str] = "participant.profile_changed.v1"

    fields: dict[str, str] = Field(default_factory=dict, description="what was set, by name")
    removed: tuple[str, ...] = ()
    by: str
    reason: str = ""


class ProfileRequested(EventData):
    """A person asks for a change of a profile; learn_facts decides."""

    TYPE: ClassVar[str] = "participant.profile_requested.v1"
    TOPIC: ClassVar[str] = "participant-events"

    participant_id: UUID
    fields: dict[str, str] = Field(default_factory=dict)
    remove: tuple[str, ...] = ()
    by: str
    reason: str = ""
