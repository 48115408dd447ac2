"""Periods that are over: the rows of what came to pass in them, and what a model said of them.

Invariant: what was told is shown only while every row that the model was shown still stands and says what it said
(`standing_periods` in the database). A fact that was corrected, merged or erased, or gives way to another address of
the same person, takes each period with it that rests on it; then the rows are what there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import sql

from schemas.model_output import Grain
from services.core.db import Connection, queries, rows_as
from services.core.settings import PeriodRetention
from services.memory.embeddings import Meaning
from services.memory.grains import kept_since
from services.memory.passages import PassageSettings, search_passages
from services.memory.periods import Window

SQL = queries(__file__, "condensed.sql")
LONGEST_ROW = 400  # characters of one row that a model is shown, and that a sentence may rest on
SETTINGS = PassageSettings()


@dataclass(frozen=True, slots=True)
class PeriodRow:
    """What came to pass: a fact `began` or `ended`, a `summary`, an `action` or `outcome` in a thread, a `standing`.

    `mark` is the hash of what it says, so that a row that says something else is another one.
    """

    id: UUID
    what: str
    whose: UUID
    at: datetime
    text: str
    weight: float
    mark: str

    @property
    def told(self) -> str:
        """Its text on one line, cut where it is long."""
        return " ".join(self.text.split())[:LONGEST_ROW]


@dataclass(frozen=True, slots=True)
class CondensedPeriod:
    """A period as it was told. `sentences` are `{text, rows}`; `rows` says how many rows the model was shown.

    `stands` is False where one of them says something else by now, or is gone: then nothing of it is shown.
    """

    period_id: UUID
    participant_id: UUID
    grain: Grain
    period: str
    starts_at: datetime
    ends_at: datetime
    sentences: list[dict[str, Any]]
    rows: int
    left_out: int
    dropped: list[str]
    made_at: datetime
    stands: bool


async def rows_of(
    conn: Connection, participant_id: UUID, since: datetime, until: datetime, moment: datetime
) -> list[PeriodRow]:
    """What came to pass with one participant within a time, as it is believed at a moment, the oldest first."""
    args = {"participant_id": participant_id, "since": since, "until": until, "moment": moment}
    return await rows_as(conn, PeriodRow, SQL.rows, args)


async def current_periods(
    conn: Connection, participant_id: UUID, moment: datetime, keep: PeriodRetention
) -> list[CondensedPeriod]:
    """The told periods of a person, under all of their addresses, that may be shown; the newest first."""
    args = {"participant_id": participant_id, "moment": moment}
    return kept(await rows_as(conn, CondensedPeriod, SQL.current_periods, args), moment, keep)


def kept(periods: Iterable[CondensedPeriod], now: datetime, keep: PeriodRetention) -> list[CondensedPeriod]:
    """Those that have not had their time; the others are hidden at once, and removed by the daily round."""
    return [one for one in periods if one.ends_at > kept_since(one.grain, now, keep)]


async def search_periods(
    conn: Connection,
    participant_id: UUID,
    query_text: str,
    meaning: Meaning,
    moment: datetime,
    keep: PeriodRetention,
    *,
    window: Window | None = None,
    limit: int = 20,
) -> list[CondensedPeriod]:
    """The told periods of a person that may be shown and answer a query, best first; of a window, those in it."""
    args = {"participant_id": participant_id, "moment": moment, "model": meaning.model}
    hits = await search_passages(
        conn,
        scope=sql.SQL(SQL.found),
        parameters={**args, "since": window and window.start, "until": window and window.end},
        query_text=query_text,
        query_vector=meaning.vector,
        window=window,
        limit=limit,
        settings=SETTINGS,
    )
    found = {one.period_id: one for one in await current_periods(conn, participant_id, moment, keep)}
    return [found[hit.id] for hit in hits if hit.id in found]


def told_by(periods: Sequence[CondensedPeriod]) -> frozenset[UUID]:
    """The rows that some sentence of these periods names."""
    return frozenset(UUID(id) for one in periods for sentence in one.sentences for id in sentence["rows"])
