"""How replies are made: what shapes them, how threads are led, and the canned answers that people begin with.

What shapes a reply may be said in several places: turn over participant over inbox over workspace over default.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

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


# How threads are led: when they move on by themselves, what the model is shown, how replies leave.


class ThreadSettings(Group):
    """The life of a thread."""

    quiet_s: float = Field(20, ge=0, description="how long after a mail we wait for another before a turn opens")
    auto_resolve_days: float = Field(
        7, ge=0, description="without a word of the customer, after which an answered thread is resolved"
    )
    auto_close_days: float = Field(14, ge=0, description="after which a resolved thread is closed")
    reopen_days: float = Field(
        365, ge=0, description="a mail that comes longer after closing opens a new, linked thread"
    )
    suggest: bool = Field(True, description="while a person has a thread, leave them a note with what we would answer")
    entities_days: float = Field(
        30, gt=0, le=3650, description="how long the agent keeps in mind what it noted for a thread's next turns"
    )
    max_auto_replies: int = Field(10, ge=0, description="automatic replies in a thread without a human in between")


class ContextSettings(Group):
    """What the model is shown. Budgets are in tokens."""

    persona: str = Field(
        "", max_length=LONGEST_PERSONA, description="of the agent, where an inbox says none of its own; never cut"
    )
    recent_messages: int = Field(12, ge=1, description="of the thread, the newest, that are shown whole")
    recent_tokens: int = Field(3000, ge=1, description="room for them")
    facts_tokens: int = Field(6000, ge=1, description="room for a memory of recall.whole_up_to ordinary facts")
    knowledge_tokens: int = Field(1500, ge=1, description="room for passages of the knowledge base")
    knowledge_chunks: int = Field(6, ge=1, description="passages of the knowledge base, the best ones, that are shown")
    layer_tokens: int = Field(
        700, ge=1, description="of each other layer; summaries and briefs have room for their words"
    )
    retention_days: float = Field(
        30, gt=0, description="older conversation rows leave the prompt; the summary carries on"
    )
    tool_rounds: int = Field(6, ge=1, description="answers of the model within which it has to end the turn")
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
    retry_days: float = Field(5, ge=0, description="how long a reply that the server does not take now is tried again")
    allowed_links: tuple[str, ...] = Field((), description="hosts that replies may link to")
    disclose_ai: bool = Field(True, description="say that the writer is an AI and how to reach a person")
    disclosure: str = Field(
        "I am an AI assistant. Answer 'human' and a person takes over.",
        max_length=LONGEST_RULE,
        description="the sentence that says so, below each reply",
    )


# Canned answers: texts that people begin a reply of their own with.
VARIABLES = ("name", "first_name", "subject", "me")
VARIABLE = re.compile(r"\{([a-z_]{1,20})(?:\|([^{}\n]{0,40}))?\}")


def _known(text: str) -> str:
    if unknown := sorted({found[1] for found in VARIABLE.finditer(text)} - set(VARIABLES)):
        raise ValueError(f"there is no variable {{{unknown[0]}}}; there are {', '.join(VARIABLES)}")
    return text


class CannedAnswer(Group):
    """A text for replies of people, with variables such as {first_name} or {first_name|there}."""

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]*$")
    ]
    text: Annotated[str, StringConstraints(min_length=1, max_length=10_000), AfterValidator(_known)] = Field(
        description="{name}, {first_name}, {subject} and {me} are filled in; after | stands what is there without one"
    )
    inbox: str = Field("", description="of this inbox alone; empty: of all")
