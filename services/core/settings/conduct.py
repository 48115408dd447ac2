"""How threads are led: when they move on by themselves, what the model is shown, how replies leave."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.core.settings.group import Group
from services.core.settings.shaping import LONGEST_PERSONA, LONGEST_RULE


class ThreadSettings(Group):
    """The life of a thread."""

    quiet_s: float = Field(20, description="how long after a mail we wait for another before a turn opens")
    auto_resolve_days: float = 7
    auto_close_days: float = 14
    reopen_days: float = Field(365, description="a mail that comes longer after closing opens a new, linked thread")
    suggest: bool = Field(True, description="while a person has a thread, leave them a note with what we would answer")
    entities_days: float = Field(
        30, gt=0, le=3650, description="how long the agent keeps in mind what it noted for a thread's next turns"
    )
    max_auto_replies: int = Field(10, description="automatic replies in a thread without a human in between")


class ContextSettings(Group):
    """What the model is shown. Budgets are in tokens."""

    persona: str = Field(
        "", max_length=LONGEST_PERSONA, description="of the agent, where a mailbox says none of its own; never cut"
    )
    recent_messages: int = 12
    recent_tokens: int = 3000
    facts_tokens: int = Field(6000, description="room for a memory of recall.whole_up_to ordinary facts")
    knowledge_tokens: int = 1500
    knowledge_chunks: int = 6
    layer_tokens: int = Field(700, description="of each other layer; summaries and briefs have room for their words")
    retention_days: float = Field(30, description="older conversation rows leave the prompt; the summary carries on")
    tool_rounds: int = 6
    earlier_threads: int = Field(2, ge=0, le=50, description="of the author, the newest, whose summaries are shown")
    relevant_threads: int = Field(
        3, ge=0, le=20, description="of the author's others, in which something was said that bears on the mail"
    )
    cache_s: int = Field(3600, ge=1, description="how long a summary or a brief may be read from the cache")
    recall: Literal["always", "on_cue"] = Field(
        "always",
        description="on_cue: facts are searched where a mail asks or points back, or at `recall_every`",
    )
    recall_every: int = Field(5, ge=1, description="with on_cue: also for one mail of a thread in so many")


class SendSettings(Group):
    """How replies leave."""

    approval: Literal["auto", "review", "human_only"] = Field(
        "auto", description="review: a person approves every reply; human_only: a person words it, too"
    )
    max_files_mb: float = Field(10, ge=0, le=25, description="files of one reply together; larger ones do not leave")
    retry_days: float = 5
    allowed_links: tuple[str, ...] = Field((), description="hosts that replies may link to")
    disclose_ai: bool = Field(True, description="say that the writer is an AI and how to reach a person")
    disclosure: str = Field(
        "I am an AI assistant. Answer 'human' and a person takes over.",
        max_length=LONGEST_RULE,
        description="the sentence that says so, below each reply",
    )
