"""A person's told periods for people: the latest, or those that answer a question; and whether each still stands."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.model_output import Grain
from services.core.app import App
from services.core.db import queries, rows_as
from services.memory.condensed import CondensedPeriod, kept, search_periods
from services.memory.questions import read

SQL = queries(__file__)
MOST = 20  # unless more are asked for


async def periods_of(
    app: App, participant_id: UUID, *, grain: Grain | None = None, limit: int = MOST
) -> list[CondensedPeriod]:
    """The latest so many periods of a person that were told, the last that ended first."""
    args: dict[str, Any] = {
        "workspace": app.settings.workspace,
        "participant_id": participant_id,
        "moment": app.now(),
        "grain": grain,
        "limit": limit,
    }
    async with app.database.reading() as conn:
        told = await rows_as(conn, CondensedPeriod, SQL.told, args)
    return kept(told, args["moment"], app.settings.retention.periods)


async def find_periods(
    app: App, participant_id: UUID, text: str, *, now: datetime, limit: int = MOST
) -> list[CondensedPeriod]:
    """The person's told periods that stand and answer a question, best first."""
    from services.memory.embeddings import meanings

    asked = read(text, now)
    (meaning,) = await meanings(app.embedder, [asked.words or " "])
    async with app.database.transaction(app.settings.workspace) as conn:
        keep = app.settings.retention.periods
        return await search_periods(
            conn, participant_id, asked.words, meaning, now, keep, window=asked.window, limit=limit
        )
