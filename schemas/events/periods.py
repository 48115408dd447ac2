"""Days, weeks, months, quarters and years of a participant that are over, and what a model says of them."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData, Value
from schemas.events.replies import TokenUsage
from schemas.model_output import Grain


class PeriodEnded(EventData):
    """A period in which much came to pass with a participant is over; condense_memory puts it in a few sentences.

    Its id follows from participant, grain and period, so it happens once, however often and late it is noticed. It is
    sealed though it holds no words: what is made of it goes with the same key, so that an erase stops it under way.
    """

    TYPE: ClassVar[str] = "period.ended.v1"
    TOPIC: ClassVar[str] = "memory-periods"

    participant_id: UUID
    grain: Grain
    period: str = Field(description="as ISO 8601 names it, in UTC: 2026-03-09, 2026-W11, 2026-03, 2026-Q1, 2026")
    starts_at: datetime
    ends_at: datetime


class PeriodSentence(Value):
    """One sentence, and the rows that it names, among those that were shown."""

    text: str
    rows: tuple[UUID, ...]


class ShownRow(Value):
    """A row that the model was shown; `mark` is the hash of what it said."""

    id: UUID
    mark: str


class PeriodCondensed(Effect):
    """A period was told: the sentences that held. None where nothing did, or too little was left to be told."""

    TYPE: ClassVar[str] = "period.condensed.v1"
    TOPIC: ClassVar[str] = "memory-periods"
    AGGREGATE: ClassVar[str] = "periods"
    LEARNED: ClassVar[frozenset[str]] = frozenset({"sentences"})
    SKELETON: ClassVar[frozenset[str]] = frozenset({"grain", "period", "starts_at", "ends_at", "inbox"})

    participant_id: UUID
    grain: Grain
    period: str
    starts_at: datetime
    ends_at: datetime
    inbox: str = ""
    sentences: tuple[PeriodSentence, ...] = ()
    rows: tuple[ShownRow, ...] = ()
    left_out: int = Field(0, description="rows that were too many to be shown")
    dropped: tuple[str, ...] = Field((), description="why sentences did not hold, one entry each")
    model: str = ""
    usage: TokenUsage = TokenUsage()

    def aggregate_id(self) -> UUID:
        """The participant whose periods they are."""
        return self.participant_id


class PeriodsRetentionDue(EventData):
    """What was told of some periods is older than it is to be kept; condense_memory decides what goes."""

    TYPE: ClassVar[str] = "period.retention_due.v1"
    TOPIC: ClassVar[str] = "memory-periods"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"due_at"})

    participant_id: UUID
    due_at: datetime


class PeriodsExpired(EventData):
    """What was told of some periods is kept no longer: facts that they rest on are not, or they have had their time."""

    TYPE: ClassVar[str] = "period.expired.v1"
    TOPIC: ClassVar[str] = "memory-periods"
    AGGREGATE: ClassVar[str] = "periods"

    participant_id: UUID
    fact_ids: tuple[UUID, ...]
    period_ids: tuple[UUID, ...] = Field((), description="those that have had their time")

    def aggregate_id(self) -> UUID:
        """The participant whose periods they are."""
        return self.participant_id
