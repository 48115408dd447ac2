"""What a model says of periods that are over, and how much of that there may be."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


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
