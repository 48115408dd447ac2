"""What a model may say: the inputs of its tools, and the one structured answer of `reflect`.

These models are the contract between the prompt and the code. Their JSON Schemas are sent to the model, so
every description is written for it; what comes back is validated here before anything believes it.
Lengths are hard limits: a longer quote or text is refused, a longer summary or brief is cut at a sentence. How many
words those two may have is the `Room` that a deployment gives them.
Dates are ISO 8601 calendar dates (`2026-01-15`), the last day on which the thing is still true.
"""

from __future__ import annotations

import copy
import functools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, model_validator

from schemas.summary_limit import limited
from schemas.words import clip_words

SUMMARY_WORDS = 200
BRIEF_WORDS = 500
TAG_LETTERS = 40

Intent = Literal[
    "pricing_question",
    "purchase",
    "renewal",
    "cancellation",
    "competitor",
    "billing",
    "bug_report",
    "how_to",
    "feature_request",
    "complaint",
    "status_question",
    "thanks",
    "other",
]
ParticipantStateName = Literal["unknown", "prospect", "customer", "vip", "at_risk", "churned", "returning"]
ReplyState = Literal["awaiting_reply", "in_progress", "resolved"]
Grain = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]


@dataclass(frozen=True, slots=True)
class Room:
    """How many words a thread's summary and a participant's brief may have: the context of their validation."""

    summary: int = SUMMARY_WORDS
    brief: int = BRIEF_WORDS


STANDARD_ROOM = Room()
CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # what no text of several lines may hold
BRIEF_CHARACTERS = 16_000


def _room(info: ValidationInfo) -> Room:
    return info.context if isinstance(info.context, Room) else STANDARD_ROOM


def _limited_summary(text: str, info: ValidationInfo) -> str:
    return limited(text, _room(info).summary)


def _held_brief(text: str, info: ValidationInfo) -> str:
    return clip_words(re.sub(CONTROL, " ", text), _room(info).brief)


FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2199, 12, 31)  # what lies beyond is no date that anybody means


def is_plausible(day: date) -> bool:
    """Whether somebody may mean this date: "9999-12-31" stands for never, and year 1 for a slip."""
    return FIRST_DAY <= day <= LAST_DAY


def _plausible(day: date | None) -> date | None:
    return day if day is None or is_plausible(day) else None


Day = Annotated[date | None, AfterValidator(_plausible)]
Summary = Annotated[str, StringConstraints(max_length=8_000), AfterValidator(_limited_summary)]
Brief = Annotated[str, StringConstraints(max_length=BRIEF_CHARACTERS), AfterValidator(_held_brief)]


def _tag(text: str) -> str:
    found = re.sub(r"[\W_]+", "_", unicodedata.normalize("NFC", text)).strip("_").lower()
    if not found or len(found) > TAG_LETTERS:
        raise ValueError(f"a tag has 1 to {TAG_LETTERS} letters or digits")
    return found


Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
OptionalLine = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)]
EntityValue = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=300, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$")
]
Key = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=r"^\w[\w .:#/-]{0,79}$")]
Kind = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, pattern=r"^[a-zA-Z][a-zA-Z0-9_]{0,39}$")]
Tag = Annotated[str, AfterValidator(_tag)]  # written as one word: "Late delivery" is `late_delivery`
Body = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]

_KIND = (
    "The kind of fact: identity, contact_info, customer_info, order_info, preference, issue_history, goal, event, "
    "relationship, interaction, resolution, note, or one that the instructions define."
)
_KEY = "What the fact is about, in a few stable lower-case words, e.g. 'plan', 'company', 'order 4471', 'seats'."
_QUOTE = "The words it was read from, copied exactly, character by character, from the customer's own new text."
_SUMMARY = (
    "The thread so far in at most {words} words, updated from the current summary and the new mails: what was asked, "
    "what was done, what is pending. Keep names and numbers."
)
_BRIEF = (
    "Whom we are dealing with, in at most {words} words, for the next reply: profile, recent events, preferences, open "
    "tasks, key facts. Updated from the current brief."
)
_TEXT = "The fact as one sentence that can be understood alone, naming the customer."
_IMPORTANCE = "1 (trivia) to 10 (must never be forgotten)."
_VALID_TO = "The last day it is true, if it ends by itself ('on vacation until 15 January'); otherwise null."
_FACT_ID = "The id of the stored fact that is meant, as the context shows it; empty if it shows none."


class _Said(BaseModel):
    """The base of everything a model says: frozen, and nothing beside the named fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ReplyInput(_Said):
    """Answer the customer. State and goals take effect when the reply is sent."""

    text: Body = Field(description="The reply as plain text, greeting and closing included, without a subject.")
    state: ReplyState = Field(
        description="The thread after this reply: awaiting_reply if you asked the customer something, "
        "resolved if nothing is left to do, in_progress if we still owe something."
    )
    goals_add: list[Line] = Field(
        default_factory=list, max_length=8, description="What this thread now waits for, one sentence each."
    )
    goals_close: list[Line] = Field(
        default_factory=list, max_length=8, description="Open goals that are now reached, word for word as shown."
    )
    citations: list[Line] = Field(
        default_factory=list,
        max_length=12,
        description="Ids of the knowledge chunks and of the author's facts that the reply rests on.",
    )
    attach: list[Line] = Field(
        default_factory=list,
        max_length=3,
        description="Ids of knowledge chunks whose document's file goes along; only where it says that it may.",
    )
    intent: Intent = Field(default="other", description="The main purpose of the mail that you answer.")


class NoReplyInput(_Said):
    """Say that the mail needs no answer, for instance 'thanks, solved!'."""

    reason: Line = Field(description="Why no reply is needed, in one sentence.")
    settled: bool = Field(default=False, description="True if their matter is settled: the thread is then resolved.")
    goals_close: list[Line] = Field(
        default_factory=list, max_length=8, description="Open goals that are now reached, word for word as shown."
    )


class EscalateInput(_Said):
    """Hand the thread to a person."""

    reason: Line = Field(description="Why a person is needed, for our team, in one sentence.")
    message_to_customer: Body = Field(
        description="What the customer is told now: that a person takes over. Promise no outcome and no date."
    )


class RememberInput(_Said):
    """Store one fact about the author of this mail."""

    kind: Kind = Field(description=_KIND)
    key: Key = Field(description=_KEY)
    value: Line = Field(description="The value alone, e.g. 'Enterprise', '40', '2026-01-15'.")
    text: Line = Field(description=_TEXT)
    quote: Line = Field(description=_QUOTE)
    importance: int = Field(ge=1, le=10, description=_IMPORTANCE)
    valid_to: Day = Field(default=None, description=_VALID_TO)


class CorrectInput(_Said):
    """Replace a stored fact that the customer says is wrong or no longer true."""

    fact_id: OptionalLine = Field(default="", description=_FACT_ID)
    kind: Kind = Field(description=_KIND)
    key: Key = Field(description=_KEY)
    value: Line = Field(description="The new value alone.")
    text: Line = Field(description=_TEXT)
    quote: Line = Field(description=_QUOTE)
    importance: int = Field(default=5, ge=1, le=10, description=_IMPORTANCE)
    valid_to: Day = Field(default=None, description=_VALID_TO)


class ForgetInput(_Said):
    """End a stored fact because the customer asked for it or says that it is over."""

    fact_id: OptionalLine = Field(default="", description=_FACT_ID)
    kind: Kind = Field(description=_KIND)
    key: Key = Field(description=_KEY)
    reason: Line = Field(description="Why it no longer holds, in one sentence.")
    quote: Line = Field(description=_QUOTE)


class ParticipantStateInput(_Said):
    """Propose where the author stands as a customer; code decides whether that step is allowed."""

    state: ParticipantStateName = Field(
        description="prospect (asks before buying), customer (pays), at_risk (may leave), churned, returning. "
        "A person makes a vip."
    )
    reason: Line = Field(description="What in the mail shows it, in one sentence.")


class SetEntityInput(_Said):
    """Keep something in mind for the next turns of this thread: an order number, a version, which step was tried."""

    name: Key = Field(description="A short stable name, e.g. 'order', 'browser version', 'step tried'.")
    value: EntityValue = Field(
        default="", description="The value alone; numbers, dates, links as the context has them. Empty takes it away."
    )


class GetEntitiesInput(_Said):
    """Read what you keep in mind for this thread, what you have set in this turn included."""


class SearchMemoryInput(_Said):
    """Look up what is remembered about the author of this mail."""

    query_text: OptionalLine = Field(default="", description="What to look for by meaning; empty lists by time.")
    grain: Grain | None = Field(
        default=None, description="Lists what is found by day, week, month, quarter or year; null lists the best first."
    )
    minimum_days_ago: int = Field(default=0, ge=0, le=36_500, description="Nothing newer than this many days.")
    maximum_days_ago: int = Field(default=36_500, ge=0, le=36_500, description="Nothing older than this many days.")
    max_results: int = Field(default=10, ge=1, le=50, description="How many entries to return.")
    person: OptionalLine = Field(default="", description="Only entries that name this person.")
    event_type: OptionalLine = Field(default="", description="Only entries of this kind, e.g. 'resolution'.")


class SearchKnowledgeInput(_Said):
    """Search our own documents: plans, prices, policies, instructions."""

    query: Line = Field(description="A question or a few words.")


class FactOperation(_Said):
    """One change to what is stored about the author: ADD a new fact, UPDATE or DELETE a stored one."""

    op: Literal["ADD", "UPDATE", "DELETE"]
    fact_id: OptionalLine = Field(default="", description=f"For UPDATE and DELETE. {_FACT_ID}")
    kind: Kind = Field(description=_KIND)
    key: Key = Field(description=_KEY)
    value: OptionalLine = Field(default="", description="The value alone; empty only for DELETE.")
    text: OptionalLine = Field(default="", description=_TEXT)
    quote: Line = Field(description=_QUOTE)
    importance: int = Field(default=5, ge=1, le=10, description=_IMPORTANCE)
    valid_to: Day = Field(default=None, description=_VALID_TO)
    derived_from: list[Line] = Field(
        default_factory=list,
        max_length=5,
        description="Ids of the stored facts that you concluded it from; empty for what the customer said outright.",
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.op != "DELETE" and not (self.value and self.text):
            raise ValueError(f"{self.op} needs both `value` and `text`")
        return self


class Relation(_Said):
    """One edge of the graph, e.g. ('John Miller', 'works_at', 'Acme')."""

    op: Literal["INSERT", "UPDATE", "DELETE"] = "INSERT"
    subject: Line
    predicate: Kind = Field(description="A verb in snake_case: works_at, uses, reports_to, replaced_by.")
    object: Line
    quote: Line = Field(description=_QUOTE)


class Signals(_Said):
    """What the mail shows of the author's mood and purpose."""

    sentiment: float | None = Field(
        default=0.0, ge=-1.0, le=1.0, description="-1 furious, 0 neutral, 1 delighted; null if you cannot tell."
    )
    frustrated: bool | None = Field(
        default=False, description="True only if the words show frustration with us; null if you cannot tell."
    )
    frustrated_mails: int = Field(
        default=0, ge=0, le=100, description="Of several mails: how many of the newest in a row show frustration."
    )
    intent: Intent = Field(default="other", description="The main purpose of the newest mail.")
    issue_key: OptionalLine = Field(
        default="",
        description="For a bug or complaint: 2-5 lower-case words naming the trouble and nobody's name or data, "
        "so that the same trouble gets the same key: 'csv export timeout'. Copy the key of a known trouble that the "
        "context shows, if this is one. Otherwise empty.",
    )
    issue_resolved: bool = Field(default=False, description="True if the customer says that their trouble is over.")
    tags: list[Tag] = Field(default_factory=list, max_length=8, description="Topics, one word each.")


class ParticipantProposal(_Said):
    """A proposed step of the author's lifecycle, with the words that show it."""

    state: ParticipantStateName
    reason: Line


class Reflection(_Said):
    """What is learned from one closed turn: one answer, from which every projection is applied."""

    summary: Summary = Field(description=_SUMMARY.format(words=SUMMARY_WORDS))
    facts: list[FactOperation] = Field(
        default_factory=list, max_length=30, description="Only what the author said of themselves or their account."
    )
    relations: list[Relation] = Field(default_factory=list, max_length=20)
    signals: Signals = Signals(sentiment=None, frustrated=None)
    participant: ParticipantProposal | None = Field(
        default=None, description="Only if the mail shows that the author's standing has changed."
    )
    brief: Brief = Field(description=_BRIEF.format(words=BRIEF_WORDS))


class ToldSentence(_Said):
    """One sentence about the period, and what it rests on."""

    text: Line = Field(description="One plain sentence. Numbers, amounts, dates and names only as the rows have them.")
    rows: list[UUID] = Field(min_length=1, max_length=40, description="The ids in brackets of the rows that say so.")


class ToldPeriod(_Said):
    """What came to pass in the period, in a few sentences, the weightiest first; each names the rows it rests on."""

    sentences: list[ToldSentence] = Field(max_length=20, description="Few sentences, the weightiest first.")


class ListFilesInput(_Said):
    """List the files of the folder with their lines."""

    folder: OptionalLine = Field(default="", description="Only what lies below it, e.g. 'threads'; empty lists all.")


class GrepInput(_Said):
    """Find lines of the folder's files by words. Capitals do not matter; the words are no pattern."""

    words: Line = Field(description="What a line holds, exactly; several alternatives with | between them.")
    folder: OptionalLine = Field(default="", description="Only what lies below it; empty searches all.")


class MemoryInput(_Said):
    """View and edit files: view, create (or overwrite), str_replace, insert, delete."""

    command: Literal["view", "create", "str_replace", "insert", "delete"] = Field(description="What to do.")
    path: Line = Field(description="The file's path in the folder, e.g. 'memory/scratchpad.md'.")
    view_range: list[int] = Field(
        default_factory=list, max_length=2, description="For view: first and last line, from 1; empty shows all."
    )
    file_text: str = Field(default="", max_length=200_000, description="For create: the whole text.")
    old_str: str = Field(default="", max_length=20_000, description="For str_replace: words that stand there once.")
    new_str: str = Field(default="", max_length=20_000, description="For str_replace: what takes their place.")
    insert_line: int = Field(default=0, ge=0, description="For insert: behind this line; 0 is the beginning.")
    insert_text: str = Field(default="", max_length=20_000, description="For insert: the lines.")


class ProposedFact(_Said):
    """A change of what is stored about the customer, for a person of our team to accept or reject."""

    op: Literal["add", "correct", "forget"]
    fact_id: UUID | None = Field(
        default=None, description="For correct and forget: the fact, as memory/facts.md has it."
    )
    kind: Kind = Field(default="note", description=_KIND)
    key: Key = Field(description=_KEY)
    value: OptionalLine = Field(default="", description="The value alone; empty only for forget.")
    text: OptionalLine = Field(default="", description=_TEXT)
    quote: Line = Field(description=_QUOTE)
    mail_id: UUID = Field(description="The mail in which the quote stands, as the file of its thread names it.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.op != "forget" and not (self.value and self.text):
            raise ValueError(f"{self.op} needs both `value` and `text`")
        if self.op != "add" and self.fact_id is None:
            raise ValueError(f"{self.op} needs a `fact_id`")
        return self


class FinishInput(_Said):
    """End the investigation with a note for the person who asked."""

    note: Body = Field(description="What you found and where it stands, what is open, what you advise; plain text.")
    facts: list[ProposedFact] = Field(
        default_factory=list, max_length=10, description="Changes of memory that you propose. None is made by itself."
    )


TOOL_INPUTS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {
        "reply": ReplyInput,
        "no_reply_needed": NoReplyInput,
        "escalate": EscalateInput,
        "remember_fact": RememberInput,
        "correct_fact": CorrectInput,
        "forget_fact": ForgetInput,
        "set_participant_state": ParticipantStateInput,
        "set_entity": SetEntityInput,
        "get_entities": GetEntitiesInput,
        "search_memory": SearchMemoryInput,
        "search_knowledge": SearchKnowledgeInput,
        "reflect": Reflection,
        "tell": ToldPeriod,
        "list_files": ListFilesInput,
        "grep": GrepInput,
        "memory": MemoryInput,
        "finish": FinishInput,
    }
)


@functools.cache
def tool_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a tool's input, made once, as it is sent to a model. Raises `KeyError` for an unknown tool."""
    return TOOL_INPUTS[name].model_json_schema()


def reflection_schema(room: Room) -> dict[str, Any]:
    """The JSON Schema of `reflect`, which tells the model how many words it has."""
    schema = copy.deepcopy(tool_schema("reflect"))
    schema["properties"]["summary"]["description"] = _SUMMARY.format(words=room.summary)
    schema["properties"]["brief"]["description"] = _BRIEF.format(words=room.brief)
    return schema
