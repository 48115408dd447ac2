"""What is learned from mail and documents, how surely, how it is found, and what a model may be asked for it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, PositiveFloat, SecretStr, model_validator

from schemas.model_output import Grain
from services.core.settings.group import Group

LOCAL_MODELS = ("", "minilm")
USUAL_DIMENSIONS = 384
DEFAULT_SPACE = ""  # what inboxes without a space of their own share


def _a_space(name: str) -> str:
    """A name that stands in ids and commands; `default` is how the shared one is shown."""
    if name == "default" or not re.fullmatch(r"(?:[a-z0-9][a-z0-9_-]{0,39})?", name):
        raise ValueError(
            f"{name[:50]!r} is no name of a space: at most 40 of a-z, 0-9, _ and -, and not 'default'; leave it out to "
            "share the default space"
        )
    return name


class MemorySettings(Group):
    """What is learned from an inbox. Entries are put over the tables of services/learn_facts/facts/policy.py."""

    space: Annotated[str, AfterValidator(_a_space)] = Field(
        DEFAULT_SPACE,
        description="a name: this inbox remembers and quotes what is of this space only; empty: the shared one",
    )
    instructions: str = Field("", description="for the model that extracts facts, in place of the default ones")
    summary: str = Field("", description="said to the model of a thread's summary: what it must not leave out")
    condense_at: tuple[int, ...] = Field(
        (200, 400, 600), description="messages of a thread at which its summary is condensed to half its room"
    )
    periods: dict[Grain, str] = Field(
        {},
        description="what is to be told of a day, week, month, quarter or year, in place of the standard: weekly = ...",
    )
    kinds: dict[str, str] = Field({}, description="kinds of your own: name = what belongs there")
    examples: tuple[str, ...] = Field((), description="what a good fact of this inbox looks like, one line each")
    values: dict[str, Literal["single", "multi", "append"]] = Field(
        {}, description="by key, or by kind: one value, several side by side, or each an occurrence"
    )
    reserved: tuple[str, ...] = Field((), description="further keys that no customer may set, such as 'loyalty_level'")
    floors: dict[str, float] = Field({}, description="by kind: the least importance, 0 to 1")
    store_from: float = Field(0.3, ge=0, le=1, description="importance below which nothing is stored")


class EmbeddingSettings(Group):
    """Which model turns text into vectors; by default a local one. After a change everything is re-embedded."""

    url: str = Field("", description="an OpenAI-compatible endpoint; empty: a local model")
    model: str = Field("", description="as the endpoint names it; without one `minilm`, or empty for any language")
    api_key: SecretStr = SecretStr("")
    dimensions: int = Field(USUAL_DIMENSIONS, ge=1, le=4000, description="how long the endpoint's vectors are")

    @model_validator(mode="after")
    def _is_one_model(self) -> Self:
        if self.url and not self.model:
            raise ValueError("embeddings.url is set: say in embeddings.model which model to ask it for")
        if not self.url and (self.model not in LOCAL_MODELS or self.dimensions != USUAL_DIMENSIONS):
            raise ValueError(
                "embeddings.url is empty, so the local model is used: set embeddings.url, or leave "
                "embeddings.dimensions out, and embeddings.model too or as minilm"
            )
        return self


# How mail is learned from: how much the model may say, when it is asked again, and what makes a fact sure.
#
# What is decided by these numbers is stored in the event that decides it: a change counts from then on, and a rebuild
# gives what was decided at its time.
LONGEST_QUOTE = 300  # characters, as the events and the table hold it

Part = Annotated[float, Field(ge=0, lt=1)]
Sureness = Annotated[float, Field(gt=0, lt=1)]


class ConfidenceSettings(Group):
    """How sure a first source makes us of a fact, 0 to 1, and what further ones add. Of facts learned from now on."""

    inferred: Sureness = Field(0.5, description="read from an authenticated mail that does not say it in so many words")
    ours: Sureness = Field(0.7, description="our own mail, or what a person here did")
    authenticated: Sureness = Field(0.7, description="stated by an authenticated author")
    human: Sureness = Field(0.95, description="stated by a colleague of yours")
    further_message: Part = Field(0.4, description="of the doubt that is left, what each further message takes away")
    further_thread: Part = Field(0.2, description="and each further thread")

    @model_validator(mode="after")
    def _people_are_believed_most(self) -> Self:
        if not self.inferred <= self.authenticated <= self.human:
            raise ValueError("learning.confidence has to rise from inferred over authenticated to human")
        return self


class LearningSettings(Group):
    """How a turn is learned from: one question to the model, and the rules that judge its answer."""

    answer_tokens: int = Field(4096, ge=256, description="of a reflection; a second attempt has twice the room")
    retry_hours: tuple[PositiveFloat, ...] = Field(
        (1, 6, 24), description="hours after a turn at which it is asked about again, where nothing usable came"
    )
    summary_words: int = Field(200, ge=50, le=800, description="of a thread's summary, held by code")
    brief_words: int = Field(500, ge=50, le=1600, description="of a participant's brief, held by code")
    brief_divergences: int = Field(
        4, ge=1, le=20, description="of briefs that were written at once, the latest so many wait to be merged"
    )
    facts_shown: int = Field(60, ge=1, le=1000, description="of what is believed, the weightiest, as it is asked")
    issues_shown: int = Field(20, ge=1, le=200, description="the latest so many issues that a person reported")
    messages_shown: int = Field(
        60,
        ge=1,
        le=500,
        description="that the summary does not cover yet, the oldest; the rest is for the next turn",
    )
    quote_characters: int = Field(
        LONGEST_QUOTE, ge=20, le=LONGEST_QUOTE, description="of a fact's quote; a longer one proves nothing"
    )
    date_before_days: float = Field(
        7, ge=0, le=365, description="a mail's Date is believed from so many days before its receipt"
    )
    date_after_hours: float = Field(1, ge=0, le=24, description="to so many hours after it; else the receipt counts")
    alike_from: float = Field(
        0.85, ge=0.5, le=1, description="nearness from which two facts that agree in all else are one"
    )
    importance_by_hand: int = Field(8, ge=1, le=10, description="of what a person adds or corrects")
    importance_of_acts: int = Field(7, ge=1, le=10, description="of how a person resolved a thread")
    confidence: ConfidenceSettings = ConfidenceSettings()


# How facts are found, and how sure memory must be to say so.
Share = Annotated[float, Field(ge=0, le=1)]


class FloorSettings(Group):
    """What is left of a fact's score where a factor speaks against it wholly: 0 lets it bury the fact, 1 ignores it."""

    relevance: Share = Field(0.05, description="it has nothing to do with the question")
    recency: Share = Field(0.5, description="it is as old as can be")
    importance: Share = Field(0.6, description="it is of no importance")
    confidence: Share = Field(0.5, description="we are not sure of it at all")
    outside_window: Share = Field(0.3, description="it is far from the time that is asked")


class GrainSettings(Group):
    """How finely the past is summarized: how many periods back each grain reaches; older ones by year."""

    days: int = Field(14, ge=1, le=366)
    weeks: int = Field(8, ge=1, le=520)
    months: int = Field(12, ge=1, le=120)
    quarters: int = Field(8, ge=1, le=40)
    entries: int = Field(5, ge=1, le=100, description="the most important ones of a period; the others are counted")


class RecallSettings(Group):
    """Finding facts. `sure_from` and `bell_from` are probabilities as the recall_cue benchmark fits them."""

    candidates: int = Field(150, ge=10, le=1000, description="facts that words, and that meaning, nominate each")
    whole_up_to: int = Field(100, ge=0, le=1000, description="a memory of at most so many facts is shown whole")
    best: int = Field(20, ge=1, le=300, description="of a larger one, the best so many")
    questions: int = Field(3, ge=1, le=20, description="of one mail that memory is asked")
    brought_up: int = Field(3, ge=1, le=100, description="facts that one of them brings up, at most")
    breadth: int = Field(
        400, ge=10, le=1000, description="facts that the index keeps in view, where a workspace is searched by meaning"
    )
    rare_matches: int = Field(
        1000, ge=10, le=100_000, description="facts that rare words bring in there: more find more, and take longer"
    )
    dense_share: float = Field(0.5, ge=0, le=1, description="weight of the embedding, the rest is that of the words")
    sure_from: float = Field(0.9, ge=0, le=1, description="how likely a fact answers from which memory is sure")
    bell_from: float = Field(0.4, ge=0, le=1, description="and from which it rings a bell")
    confirmed_from: float = Field(0.6, ge=0, le=1, description="confidence below which a fact only rings a bell")
    unconfirmed_below: float = Field(0.7, ge=0, le=1, description="confidence below which the prompt says so")
    stale_weight: Share = Field(0.5, description="of a fact that was concluded from what has changed or ended since")
    unused_days: float = Field(
        0,
        ge=0,
        le=36_500,
        description="a light fact that no mail asked for, and no draft cited, so long leaves the prompt; 0: none does",
    )
    unused_below: Share = Field(0.5, description="importance below which a fact is light; pinned ones never are")
    half_life_days: dict[str, PositiveFloat] = Field(
        {}, description="by kind, yours among them, in place of the standard one: identity = 3650"
    )
    other_half_life_days: PositiveFloat = Field(365, description="of kinds that have none")
    floors: FloorSettings = FloorSettings()
    grains: GrainSettings = GrainSettings()

    @model_validator(mode="after")
    def _sure_is_more(self) -> Self:
        if self.bell_from > self.sure_from:
            raise ValueError("bell_from is above sure_from: memory cannot be sure where it does not even ring a bell")
        return self


# How mood becomes risk, and how long the last exchange with somebody is remembered as such.


class PeopleSettings(Group):
    """Mood and risk of participants."""

    mood_memory: float = Field(0.6, ge=0, lt=1, description="share of the old mood that stays when a mail is read")
    high_risk_after: int = Field(3, ge=1, description="frustrated mails in a row from which the risk is high")
    low_mood: float = Field(-0.4, ge=-1, le=0, description="mood below which the risk is medium")
    tags: int = Field(20, ge=1, le=200, description="of one participant, the latest so many")
    issues: int = Field(8, ge=0, le=100, description="the latest so many issues of a person that a prompt shows")


class SessionSettings(Group):
    """The short-term session of a participant."""

    hours: float = Field(24, gt=0, le=24 * 30, description="after the last mail")
    names: int = Field(20, ge=1, le=200, description="names and things, the latest so many")
    actions: int = Field(10, ge=1, le=200, description="what was done, the latest so many")


# What a model says of periods that are over, and how much of that there may be.


class CondenseSettings(Group):
    """A participant's ended days, weeks, months, quarters and years in a few sentences of a model, daily."""

    enabled: bool = Field(
        False, description="ask the model, and show what it said; else periods are told by their rows"
    )
    calls_a_day: int = Field(
        50, ge=1, le=100_000, description="calls of the model; what is left is told on the next days"
    )
    rows_from: int = Field(
        8, ge=2, le=1000, description="of a period with fewer rows no model is asked: they stand for themselves"
    )
    rows_shown: int = Field(120, ge=2, le=1000, description="of a period, the weightiest; the rest is told by its rows")
    sentences: int = Field(6, ge=1, le=20, description="of a period; what the model says beyond that is left out")
    answer_tokens: int = Field(1024, ge=128, le=16_384)


# Investigations: whether there are any, and how much of everything one may have.


class InvestigateSettings(Group):
    """A hard case on files, asked for by a person. Off by default: each round is a call of the model."""

    enabled: bool = Field(False, description="whether an investigation may be asked for")
    rounds: int = Field(16, ge=1, le=60, description="calls of the model in one investigation")
    tokens: int = Field(200_000, ge=1_000, le=10_000_000, description="of all its calls together, in and out")
    at_once: int = Field(2, ge=1, le=5, description="investigations of one person that may be open")
    answer_tokens: int = Field(4096, ge=512, le=16_384, description="of one call")
    messages: int = Field(400, ge=10, le=2_000, description="of the person's threads, the newest")
    passages: int = Field(8, ge=0, le=40, description="of your documents, those that bear on the question")
    folder_bytes: int = Field(
        300_000, ge=20_000, le=400_000, description="of all files, as JSON; older threads give way"
    )
    file_bytes: int = Field(40_000, ge=1_000, le=60_000, description="of a file that the model writes, as JSON")


# What may be handed in to the knowledge base, and what customers are shown of it.


class KnowledgeSettings(Group):
    """The knowledge base."""

    max_document_mb: float = Field(25, gt=0, description="a larger document is refused")
    fetch_s: float = Field(30, gt=0, description="how long a web page may take, redirects included")
    redirects: int = Field(5, ge=0, description="how many a web page may make")
    private_hosts: bool = Field(False, description="fetch from addresses that are not public too: an intranet's pages")
    article_words: int = Field(12, ge=1, le=1000, description="that a proposed article's answer has at least")
    cite_in_mail: bool = Field(True, description="name the public pages that a reply rests on below it")
