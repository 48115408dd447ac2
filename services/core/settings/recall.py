"""How facts are found, and how sure memory must be to say so."""

from __future__ import annotations

from typing import Self

from pydantic import Field, PositiveFloat, model_validator

from services.core.settings.group import Group


class RecallSettings(Group):
    """Finding facts. `sure_from` and `bell_from` are probabilities as the recall_cue benchmark fits them."""

    candidates: int = Field(150, ge=10, le=1000, description="facts that words, and that meaning, nominate each")
    whole_up_to: int = Field(100, ge=0, le=1000, description="a memory of at most so many facts is shown whole")
    best: int = Field(20, ge=1, le=300, description="of a larger one, the best so many")
    dense_share: float = Field(0.5, ge=0, le=1, description="how much meaning counts beside words")
    sure_from: float = Field(0.9, ge=0, le=1, description="how likely a fact answers from which memory is sure")
    bell_from: float = Field(0.4, ge=0, le=1, description="and from which it rings a bell")
    confirmed_from: float = Field(0.6, ge=0, le=1, description="confidence below which a fact only rings a bell")
    half_life_days: dict[str, PositiveFloat] = Field(
        {}, description="by kind, yours among them, in place of the standard one: identity = 3650"
    )
    other_half_life_days: PositiveFloat = Field(365, description="of kinds that have none")

    @model_validator(mode="after")
    def _sure_is_more(self) -> Self:
        if self.bell_from > self.sure_from:
            raise ValueError("bell_from is above sure_from: memory cannot be sure where it does not even ring a bell")
        return self
