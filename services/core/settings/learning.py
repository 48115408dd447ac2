"""How mail is learned from: how much the model may say, when it is asked again, and what makes a fact sure.

What is decided by these numbers is stored in the event that decides it: a change counts from then on, and a rebuild
gives what was decided at its time.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, PositiveFloat, model_validator

from services.core.settings.group import Group

LONGEST_QUOTE = 300  # characters, as the events and the table hold it

Share = Annotated[float, Field(ge=0, lt=1)]
Sureness = Annotated[float, Field(gt=0, lt=1)]


class ConfidenceSettings(Group):
    """How sure a first source makes us of a fact, 0 to 1, and what further ones add. Of facts learned from now on."""

    inferred: Sureness = Field(0.5, description="read from an authenticated mail that does not say it in so many words")
    ours: Sureness = Field(0.7, description="our own mail, or what a person here did")
    authenticated: Sureness = Field(0.7, description="stated by an authenticated author")
    human: Sureness = Field(0.95, description="stated by a colleague of yours")
    further_message: Share = Field(0.4, description="of the doubt that is left, what each further message takes away")
    further_thread: Share = Field(0.2, description="and each further thread")

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
