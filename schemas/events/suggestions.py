"""While a person has a thread no turn opens; the agent may leave them a suggestion, which becomes a note."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData
from schemas.events.replies import AgentAct, TokenUsage
from schemas.events.threads import AppliedBehaviour


class SuggestionAsked(EventData):
    """A mail came while a person has the thread: what would the agent answer?"""

    TYPE: ClassVar[str] = "suggestion.asked.v1"
    TOPIC: ClassVar[str] = "turns"

    turn_id: UUID = Field(description="names the conversation with the model; no turn of this id is ever open")
    thread_id: UUID
    participant_id: UUID | None = None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    behaviours: tuple[AppliedBehaviour, ...] = Field((), description="the rules that held, higher priority first")


class SuggestionDrafted(Effect):
    """What the agent would answer. It is for the person who has the thread, and is never sent."""

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
