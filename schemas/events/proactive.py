"""A mail of ours that no mail asked for: a draft in a thread of the customer, which a person approves or rejects."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData
from schemas.events.threads import ThreadEvent


class DraftRequested(EventData):
    """A draft to a customer is wanted in a thread of theirs; track_threads decides whether it fits there.

    It waits for a person, whatever the approval level says.
    """

    TYPE: ClassVar[str] = "thread.draft_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    reply_id: UUID = Field(description="the same id again is the same draft")
    thread_id: UUID
    participant_id: UUID | None = Field(description="who gets it")
    text: str
    reason: str = Field(description="why it is written: what a person who approves it is told")
    unsubscribe: bool = Field(False, description="it says how to get no more of its kind, and leaves in office hours")


class DraftRefused(ThreadEvent):
    """No draft is made: the thread is being answered, a person has it, or nobody proven wrote in it."""

    TYPE: ClassVar[str] = "thread.draft_refused.v1"

    reply_id: UUID
    code: str = Field(description="busy, waits, person or nobody")
    reason: str
