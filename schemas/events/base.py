"""What every event is: a frozen pydantic model with a type name and a topic.

A type is past tense with a major version (`email.read.v1`). A field may be added with a default;
anything else is a new major version (tests/contract holds old examples against the models).
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class EventData(BaseModel):
    """The JSON value of one event. Subclasses name their type, topic and aggregate."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64")

    TYPE: ClassVar[str]
    TOPIC: ClassVar[str]
    AGGREGATE: ClassVar[str] = ""  # the aggregate whose version the event carries; "" for none

    def aggregate_id(self) -> UUID:
        """The id of the aggregate that the event changes; needed only where AGGREGATE is set."""
        raise NotImplementedError

    def subject_id(self) -> UUID | None:
        """The participant whom the content is about (the thread's author), or None."""
        value = getattr(self, "participant_id", None)
        return value if isinstance(value, UUID) else None


class Value(BaseModel):
    """A part of an event: frozen, unknown fields ignored so that older code reads newer events."""

    model_config = ConfigDict(frozen=True, extra="ignore")
