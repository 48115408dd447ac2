"""The passages of the knowledge base that bear on this mail; the reply cites them."""

from __future__ import annotations

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn
from services.memory.knowledge import search_knowledge

NAME, SHARED, TRUSTED = "knowledge", False, False
ABOUT = "Passages of what we publish, each with its [id]; what they say of plans and prices holds. Cite by id."


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.knowledge_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """The best passages, by words and meaning."""
    found = await search_knowledge(
        conn,
        workspace=turn.workspace,
        space=turn.space,
        query_text=turn.query,
        meaning=turn.meaning,
        limit=turn.settings.knowledge_chunks,
    )
    entries = (
        entry(
            f"{one.shown}\n",
            id=str(one.chunk_id),
            sendable=one.sendable,
            title=one.title,
            heading=one.heading,
            text=one.text,
            score=one.score,
        )
        for one in found
    )
    return section(entries, published=True)
