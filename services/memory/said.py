"""Finding what was said: messages and thread summaries, by the product's passage search.

Invariant: of the threads in which they wrote themselves, proven, a person finds their own mails and the replies that
went to them, and nothing else: no other customer's words, nothing of whom nothing proves, no answer to it (`said.sql`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.sql import SQL

from services.core.db import Connection, fetch_all, queries, rows_as
from services.memory.calibration import sure_of_said
from services.memory.cue import TOP
from services.memory.embeddings import Meaning, Vector
from services.memory.passages import PassageSettings, recall_passages
from services.memory.periods import Window
from services.memory.signals import SAID_WEIGHTS

SAID = queries(__file__, "said.sql")
NEWEST = 1000  # messages that one search looks through, so that nobody's mails can slow it down
SETTINGS = PassageSettings(spread=0.1, weights=SAID_WEIGHTS)

OURS = {"agent": "we", "human": "a colleague of ours", "summary": "summary"}


@dataclass(frozen=True, slots=True)
class Said:
    """A passage of a message, or the summary of a thread; `score` is comparable within one query only."""

    id: UUID
    thread_id: UUID
    subject: str
    state: str
    role: Literal["customer", "agent", "human", "summary"]
    at: datetime
    text: str
    author: str
    score: float = 0.0

    @property
    def who(self) -> str:
        """Who says it, as a reader is told."""
        return OURS.get(self.role, self.author)

    @property
    def line(self) -> str:
        """Day, speaker and thread, then the words on one line."""
        return f"{self.at:%Y-%m-%d} {self.who} in «{self.subject}»: “{' '.join(self.text.split())}”"


@dataclass(frozen=True, slots=True)
class Heard:
    """What was found of what was said, best first, and whether one of the first five surely answers."""

    said: list[Said]
    sure: bool

    @property
    def heading(self) -> str:
        """How sure it is, as a reader is told above it."""
        how = "one of the first answers" if self.sure else "whether one answers is to be confirmed"
        return f"messages, as they were written; {how}:"


async def search_said(
    conn: Connection,
    *,
    workspace: str,
    participant_id: UUID | None,
    query_text: str,
    meaning: Meaning,
    language: str = "",
    window: Window | None = None,
    days: Window | None = None,
    limit: int = 10,
    without_thread: UUID | None = None,
    without_mails: Sequence[UUID] = (),
    own_words: Vector | None = None,
) -> Heard:
    """What answers a query of what one person may see, best first; without a participant, of the whole workspace.

    `language` is the query's. `window` is the time that it speaks of: what was said about then counts for more. `days`
    bounds what is found. Without a vector of the query's model a passage is found by its words. `own_words`: `voice`.
    """
    parameters: dict[str, Any] = {"workspace": workspace, "model": meaning.model, "newest": NEWEST}
    if participant_id is not None:
        parameters |= {"participant_id": participant_id, "without_thread": without_thread}
        parameters |= {"without_mails": list(without_mails)}
        parameters |= {"since": days.start if days else None, "until": days.end if days else None}
    recall = await recall_passages(
        conn,
        scope=SQL(SAID.of_everybody if participant_id is None else SAID.of_person),
        parameters=parameters,
        query_text=query_text,
        query_vector=meaning.vector,
        window=window,
        limit=limit,
        own_words=own_words,
        settings=SETTINGS,
    )
    found = await _by_id(conn, workspace, [hit.id for hit in recall.hits])
    said = [replace(found[hit.id], score=hit.score) for hit in recall.hits if hit.id in found]
    return Heard(said, limit >= TOP and sure_of_said(recall.cue, meaning.model, language))


async def names_of(conn: Connection, workspace: str, participant_id: UUID) -> list[str]:
    """The names under which a person wrote last, from whichever of their addresses."""
    args = {"workspace": workspace, "participant_id": participant_id, "newest": NEWEST}
    return [row["name"] for row in await fetch_all(conn, SAID.speakers, args)]


async def _by_id(conn: Connection, workspace: str, ids: list[UUID]) -> dict[UUID, Said]:
    if not ids:
        return {}
    return {one.id: one for one in await rows_as(conn, Said, SAID.by_id, {"workspace": workspace, "ids": ids})}
