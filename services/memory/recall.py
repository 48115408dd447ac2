"""Asks one person's memory one question: what it finds, and whether that is sure, rings a bell, or is nothing.

A question that speaks of a time is first asked of that time, what has changed or expired since included. What is only
known of another time may still be meant, so it rings a bell, and never more. So it is where the embedder was not
calibrated for the question's language: that is the mail's, else the one the person wrote in last.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from services.core.db import Connection, fetch_one
from services.core.db.sql import queries
from services.memory.calibration import judgement
from services.memory.cue import Recall, unsure
from services.memory.embeddings import Meaning
from services.memory.periods import Window
from services.memory.questions import Asked
from services.memory.search import Hit, search_facts
from services.memory.tuning import Tuning

SQL = queries(__file__, "recall.sql")
UNRECOGNISED = "no fact below clearly answers this"


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, the one that answers first and then the best, and what they amount to."""

    hits: list[Hit]
    recall: Recall


async def recall(
    conn: Connection,
    *,
    workspace: str,
    participant_id: UUID,
    asked: Asked,
    meaning: Meaning,
    now: datetime,
    tuning: Tuning,
    limit: int = 20,
) -> Answer:
    """Facts of this person on what is asked; `meaning` is that of `asked.words`."""
    language = await language_of(conn, participant_id, asked)

    async def search(window: Window | None) -> Answer:
        hits = await search_facts(
            conn,
            workspace=workspace,
            participant_id=participant_id,
            query_text=asked.words,
            meaning=meaning,
            now=now,
            window=window,
            language=language,
            limit=limit,
            settings=tuning.search,
        )
        found = judgement(hits, tuning.cue, meaning.model, language)
        shown = sorted(hits, key=lambda hit: hit is not found.best)
        return Answer(shown[:limit], found)

    if asked.window is None:
        return await search(None)
    then = await search(asked.window)
    if then.recall.cue.verdict != "nothing":
        return then
    ever = await search(None)
    return Answer(ever.hits, unsure(ever.recall))


async def language_of(conn: Connection, participant_id: UUID, asked: Asked) -> str:
    """The language of what is asked; where that is too short to tell, of the person's last mail that was not; or ""."""
    if asked.language:
        return asked.language
    row = await fetch_one(conn, SQL.last_language, {"participant_id": participant_id})
    return str(row["language"]) if row else ""


def in_words(found: Recall, shown: bool, gist: str = "") -> str:
    """The answer as a model, or a person, reads it; `gist` stands for the sentence where that is shown elsewhere.

    Where something is `shown` below, it may be the answer that was not recognised, so nothing is denied above it.
    """
    said = gist or found.gist
    match found.cue.verdict:
        case "sure":
            return f"sure: {said}"
        case "rings a bell":
            return f"rings a bell, {_days(found.window)}: {said} To be confirmed by the customer."
        case _:
            return UNRECOGNISED if shown else "nothing is remembered of this"


def _days(window: Window | None) -> str:
    """The days of a window, the last one included."""
    if window is None:
        return "at an unknown time"
    last = window.end - timedelta(days=1)
    if last.date() <= window.start.date():
        return f"on {window.start:%Y-%m-%d}"
    return f"between {window.start:%Y-%m-%d} and {last:%Y-%m-%d}"
