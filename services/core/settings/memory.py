"""What is learned from mail, and which model turns text into vectors."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

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
    """What is learned from a mailbox. Entries are put over the tables of services/learn_facts/facts/policy.py."""

    space: Annotated[str, AfterValidator(_a_space)] = Field(
        DEFAULT_SPACE,
        description="a name: this mailbox remembers and quotes what is of this space only; empty: the shared one",
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
    examples: tuple[str, ...] = Field((), description="what a good fact of this mailbox looks like, one line each")
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
