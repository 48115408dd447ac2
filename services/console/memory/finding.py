"""Facts of one participant by meaning, as the agent itself would find them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from services.core.house import House
from services.core.memory.cue import Recall, recalled
from services.core.memory.embedding_cache import embed_cached
from services.core.memory.search import Hit, search_facts


async def find(
    house: House, participant_id: UUID, text: str, *, now: datetime, limit: int = 20
) -> tuple[list[Hit], Recall]:
    """The best hits, and what they amount to: sure, rings a bell, or nothing."""
    async with house.database.reading() as conn:
        (vector,) = await embed_cached(conn, house.embedder, [text or " "])
    async with house.database.transaction(house.settings.workspace) as conn:
        hits = await search_facts(
            conn,
            workspace=house.settings.workspace,
            participant_id=participant_id,
            query_text=text,
            query_vector=vector,
            now=now,
            limit=limit,
        )
    return hits[:limit], recalled(hits)
