"""What people ask of a participant's standing as a customer."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from schemas.events.base import EventData


class ParticipantStateRequested(EventData):
    """A person asks for one step of the lifecycle; learn_facts makes it or refuses it, and logs either."""

    TYPE: ClassVar[str] = "participant.state_requested.v1"
    TOPIC: ClassVar[str] = "participant-events"

    participant_id: UUID
    to_state: str
    by: str
    reason: str = ""
