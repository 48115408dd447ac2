"""Finding passages of the knowledge base: the product's passage search over the chunks of a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.sql import SQL

from services.core.db import Connection, queries, rows_as

if TYPE_CHECKING:
    from services.memory.embeddings import Meaning

WEIGHTS = {"dense": 1.0, "lexical": 0.2, "stream_lexical": 0.2}  # of the signals; the others count nothing
"""Of a document's passage its own meaning counts, then its words and its document's; not what stands before and after
it, as in a conversation. Chosen on one half of `tests/benchmarks/knowledge_rank`, kept because of the other."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

SENDABLE = "\n(The file of this document may be attached to the reply.)"
KNOWLEDGE = queries(__file__, "knowledge.sql")


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of an edition of a document; `score` is comparable within one query only.

    `public_url` is where everybody may read the document, "" where nobody outside may. `sendable`: its file may be
    attached to a reply.
    """

    chunk_id: UUID
    document_id: UUID
    edition: int
    title: str
    heading: str
    text: str
    origin: str
    public_url: str
    sendable: bool = False
    score: float = 0.0

    @property
    def shown(self) -> str:
        """The passage as a model reads it."""
        return f"[{self.chunk_id}] {self.place}\n{self.text}{SENDABLE if self.sendable else ''}"

    @property
    def place(self) -> str:
        """What names it to a reader."""
        return place(self.title, self.heading)


def place(title: str, heading: str) -> str:
    """A document's title, and the headings that lead to a passage of it, without the title once more."""
    below = heading.removeprefix(title).removeprefix(" > ") if heading.startswith(title) else heading
    return f"{title} / {below}" if below else title


async def search_knowledge(
    conn: Connection,
    *,
    workspace: str,
    space: str | None,
    query_text: str,
    meaning: Meaning,
    limit: int = 6,
    as_of: datetime | None = None,
) -> list[Passage]:
    """The passages of a space that answer a query, best first; with `as_of`, among those that could be found then.

    None asks every space, which is for operators.
    """
    from services.memory.passages import PassageSettings, search_passages
    from services.memory.signals import SignalWeights

    nothing = dict.fromkeys((field.name for field in fields(SignalWeights)), 0.0)
    hits = await search_passages(
        conn,
        scope=SQL(KNOWLEDGE.as_of if as_of else KNOWLEDGE.current),
        parameters={"workspace": workspace, "space": space, "as_of": as_of, "model": meaning.model},
        query_text=query_text,
        query_vector=meaning.vector,
        limit=limit,
        settings=PassageSettings(weights=SignalWeights(**{**nothing, **WEIGHTS})),
    )
    found = await passages_by_id(conn, workspace, [hit.id for hit in hits])
    return [replace(found[hit.id], score=hit.score) for hit in hits if hit.id in found]


def chunk_ids(citations: Iterable[str]) -> list[UUID]:
    """The ids among a reply's citations; what is none is left out."""
    return [UUID(one) for one in citations if _UUID.fullmatch(one)]


async def passages_by_id(conn: Connection, workspace: str, ids: Sequence[UUID]) -> dict[UUID, Passage]:
    """The workspace's passages with these ids, in their order, of whatever edition, removed documents included."""
    if not ids:
        return {}
    passages = await rows_as(conn, Passage, KNOWLEDGE.chunks_by_id, {"workspace": workspace, "ids": list(ids)})
    found = {one.chunk_id: one for one in passages}
    return {id: found[id] for id in ids if id in found}
