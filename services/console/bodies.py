"""What the API takes: the bodies of requests, and what a wish became."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from schemas.model_output import Key, Kind, Line, OptionalLine

By = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NewFact(_Body):
    """A fact that a person adds."""

    kind: Kind = "note"
    key: Key = Field(description="what the value is of, such as `plan`")
    value: Line
    text: OptionalLine = Field("", description="the fact as a sentence; by default the value")
    valid_to: date | None = Field(None, description="the last day on which it is so")
    parents: tuple[UUID, ...] = Field((), max_length=20, description="the facts that it was derived from")
    by: By = "api"


class Correction(_Body):
    """The right value of a fact that was wrong."""

    value: Line
    text: OptionalLine = ""
    by: By = "api"


class Outcome(BaseModel):
    """What became of a wish; `pending` where learn_facts has not come to it yet."""

    request_id: UUID
    status: Literal["done", "pending"]
    decision: str = ""
    fact_id: UUID | None = None
    reason: str = ""
