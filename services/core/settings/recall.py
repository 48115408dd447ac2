"""How facts are found, and how sure memory must be to say so."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, PositiveFloat, model_validator

from services.core.settings.group import Group

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
