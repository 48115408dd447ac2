"""What every event is: a frozen pydantic model with a type name and a topic.

A type is past tense with a major version (`email.read.v1`). A field may be added with a default;
anything else is a new major version (tests/contract holds old examples against the models).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

MOMENT = "happened_at"  # the field of an effect that says when


class EventData(BaseModel):
    """The JSON value of one event. Subclasses name their type, topic and aggregate."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", defer_build=True)

    TYPE: ClassVar[str]
    TOPIC: ClassVar[str]
    AGGREGATE: ClassVar[str] = ""  # the aggregate whose version the event carries; "" for none
    SHARES_CAUSE: ClassVar[bool] = False  # it was made from what its cause holds, of everybody in that thread
    OF_PERSON: ClassVar[bool] = False  # it was made from what is known of its subject, under every address of theirs
    SKELETON: ClassVar[frozenset[str]] = frozenset({"inbox"})  # stays readable beside the ids when a person is erased
    WORDS: ClassVar[frozenset[str]] = frozenset()  # what a person or the agent wrote: a body, which retention empties
    LEARNED: ClassVar[frozenset[str]] = frozenset()  # what was remembered of it, which retention of facts empties

    def aggregate_id(self) -> UUID:
        """The id of the aggregate that the event changes; needed only where AGGREGATE is set."""
        raise NotImplementedError

    def subject_id(self) -> UUID | None:
        """The participant whom the content is about (the thread's author), or None."""
        value = getattr(self, "participant_id", None)
        return value if isinstance(value, UUID) else None

    def own_subject(self) -> UUID | None:
        """What stands for the people of the content where nobody of them is known: the mail, or the thread."""
        return next(
            (one for name in ("mail_id", "thread_id") if isinstance(one := getattr(self, name, None), UUID)), None
        )

    def shared_in(self) -> UUID | None:
        """The thread whose people's words may all be in the content; None where they are its subject's alone."""
        value = getattr(self, "thread_id", None)
        return value if isinstance(value, UUID) else None

    def copied_to(self) -> tuple[str, ...]:
        """Addresses of people who get a copy, where it is about one: their key seals it too."""
        return ()

    def reveals_author_of(self) -> UUID | None:
        """The mail whose own key passes to the people of this event."""
        return None

    def skeleton(self) -> dict[str, Any]:
        """The fields that stay readable without a key, as JSON: ids, and what SKELETON names."""
        ids = {name for name in type(self).model_fields if _is_id(getattr(self, name))}
        return self.model_dump(mode="json", include=ids | ((self.SKELETON | {MOMENT}) & type(self).model_fields.keys()))

    def without_words(self) -> Self:
        """The event without the bodies in it."""
        return self._emptied(self.WORDS)

    def without_learned(self) -> Self:
        """The event without what was to be remembered."""
        return self._emptied(self.LEARNED)

    def _emptied(self, fields: frozenset[str]) -> Self:
        return self.model_copy(update={name: type(getattr(self, name))() for name in fields})

    @classmethod
    def blank(cls, skeleton: dict[str, Any]) -> dict[str, Any]:
        """The data of an event of which only the skeleton is left, about nobody and without a text."""
        required = {name: one.annotation for name, one in cls.model_fields.items() if one.is_required()}
        texts = {name: "" for name, annotation in required.items() if annotation is str}
        lists: dict[str, Any] = {name: [] for name, annotation in required.items() if annotation == tuple[str, ...]}
        return {**texts, **lists, **skeleton, "participant_id": None}


class Effect(EventData):
    """Something done outside the tables, such as an SMTP dialogue or a call of a model. It says when.

    The envelope's time is never earlier, so that whatever is decided because of it counts from that moment.
    """

    happened_at: datetime | None = Field(
        None, description="when it was done, by the wall clock; None: stored by a release that did not say so"
    )


class Impersonal(EventData):
    """An event that holds ids, numbers and times alone: no words of anybody, so nothing of it is sealed."""

    def shared_in(self) -> UUID | None:
        """Nobody's words."""
        return None

    def subject_id(self) -> UUID | None:
        """Nobody."""
        return None

    def own_subject(self) -> UUID | None:
        """Nobody."""
        return None

    def skeleton(self) -> dict[str, Any]:
        """All of it."""
        return self.model_dump(mode="json")


def _is_id(value: object) -> bool:
    return isinstance(value, UUID) or (
        isinstance(value, tuple) and bool(value) and all(isinstance(one, UUID) for one in value)
    )


class Value(BaseModel):
    """A part of an event: frozen, unknown fields ignored so that older code reads newer events."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
