"""What the agent would answer, for a person: as a note while they have the thread, or because they asked for it."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData
from schemas.events.replies import AgentAct, TokenUsage
from schemas.events.threads import AppliedBehaviour


class SuggestionRequested(EventData):
    """A person asks what the agent would answer, or for a better wording; track_threads says to which mail."""

    TYPE: ClassVar[str] = "thread.suggestion_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"
    WORDS: ClassVar[frozenset[str]] = frozenset({"words"})

    thread_id: UUID
    words: str = Field("", description="what the person wrote, to be worded better; empty: the agent writes")
    by: str


class SuggestionAsked(EventData):
    """What would the agent answer? Asked where a mail comes while a person has the thread, or by a person."""

    TYPE: ClassVar[str] = "suggestion.asked.v1"
    TOPIC: ClassVar[str] = "turns"
    WORDS: ClassVar[frozenset[str]] = frozenset({"words"})

    turn_id: UUID = Field(description="names the conversation with the model; no turn of this id is ever open")
    thread_id: UUID
    participant_id: UUID | None = None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    behaviours: tuple[AppliedBehaviour, ...] = Field((), description="the rules that held, higher priority first")
    words: str = Field("", description="what a person wrote, to be worded better")
    by: str = Field("", description="the person who asked; empty: a mail came while somebody has the thread")


class SuggestionDrafted(Effect):
    """What the agent would answer. It is for the person who has the thread or asked, and is never sent."""

    TYPE: ClassVar[str] = "suggestion.drafted.v1"
    TOPIC: ClassVar[str] = "reply-drafted"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    turn_id: UUID
    thread_id: UUID
    participant_id: UUID | None = None
    text: str
    acts: tuple[AgentAct, ...] = Field((), description="what it looked up meanwhile, for the thread's log")
    model: str = ""
    usage: TokenUsage = TokenUsage()
    by: str = Field("", description="the person who asked, and sees it where they asked; empty: it becomes a note")
