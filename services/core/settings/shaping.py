"""What shapes a reply, and where it may be said: turn over participant over mailbox over workspace over default."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.core.settings.group import Group

LONGEST_PERSONA = 12_000  # characters, about 3,400 tokens: it is in every prompt, and never cut
LONGEST_RULE = 1_000  # characters of a sentence that every prompt of a turn, or of an inbox, holds


class Shaping(Group):
    """What shapes replies, set for some of them. What is left out is as for all others."""

    approval: Literal["auto", "review", "human_only"] | None = None
    disclose_ai: bool | None = None
    model: str | None = Field(None, min_length=1)
    effort: Literal["default", "low", "medium", "high", "xhigh", "max"] | None = None
    quiet_s: float | None = Field(None, ge=0)
    recent_messages: int | None = Field(None, ge=1)
    recent_tokens: int | None = Field(None, ge=1)
    facts_tokens: int | None = Field(None, ge=1)
    knowledge_tokens: int | None = Field(None, ge=1)
    knowledge_chunks: int | None = Field(None, ge=1)
    layer_tokens: int | None = Field(None, ge=1)
    retention_days: float | None = Field(None, gt=0)
    tool_rounds: int | None = Field(None, ge=1)
    earlier_threads: int | None = Field(None, ge=0, le=50)
    relevant_threads: int | None = Field(None, ge=0, le=20)
    recall: Literal["always", "on_cue"] | None = None
    recall_every: int | None = Field(None, ge=1)


class PersonalShaping(Shaping):
    """The same for a participant or one turn, which may have a persona of their own, too."""

    persona: str | None = Field(
        None, max_length=LONGEST_PERSONA, description="what the agent is and how it writes; never cut"
    )


class ParticipantSettings(Group):
    """What holds for the replies to some people; the first entry that matches an authenticated author counts."""

    match: str = Field(min_length=3, description="an address, or a pattern such as '*@acme.example'; case is ignored")
    reply: PersonalShaping = PersonalShaping()
