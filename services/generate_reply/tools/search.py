"""Tools that look things up: the author's memory, and the knowledge base."""

from __future__ import annotations

from datetime import timedelta

from schemas.model_output import SearchKnowledgeInput, SearchMemoryInput
from services.core.memory.embedding_cache import embed_cached
from services.core.memory.embeddings import Vector
from services.core.memory.knowledge import search_knowledge
from services.core.memory.search import search_facts
from services.core.memory.temporal import Window
from services.generate_reply.desk import Desk
from services.generate_reply.tools.refusal import CallRefused

NOTHING = "nothing found"


async def memory(given: SearchMemoryInput, desk: Desk) -> str:
    """Facts of the author of this mail, and of nobody else, with their dates."""
    if not desk.event.trusted or desk.event.participant_id is None:
        raise CallRefused("the sender is not authenticated: no memory is shown")
    vector = await _vector(desk, given.query_text)
    async with desk.house.database.transaction(desk.workspace) as conn:
        hits = await search_facts(
            conn,
            workspace=desk.workspace,
            participant_id=desk.event.participant_id,
            query_text=given.query_text,
            query_vector=vector,
            now=desk.now,
            window=_window(given, desk),
            limit=given.max_results,
        )
    kept = [hit.fact for hit in hits if _wanted(given, hit.fact.kind, hit.fact.text)][: given.max_results]
    return "\n".join(f"[{one.fact_id}] {one.valid_from:%Y-%m-%d} {one.kind}: {one.text}" for one in kept) or NOTHING


async def knowledge(given: SearchKnowledgeInput, desk: Desk) -> str:
    """Passages of our own documents, with the ids to cite."""
    vector = await _vector(desk, given.query)
    async with desk.house.database.transaction(desk.workspace) as conn:
        found = await search_knowledge(conn, workspace=desk.workspace, query_text=given.query, query_vector=vector)
    return "\n\n".join(f"[{one.chunk_id}] {one.title} / {one.heading}\n{one.text}" for one in found) or NOTHING


def _window(given: SearchMemoryInput, desk: Desk) -> Window | None:
    if given.minimum_days_ago == 0 and given.maximum_days_ago >= 36_500:
        return None
    return Window(
        start=desk.now - timedelta(days=given.maximum_days_ago), end=desk.now - timedelta(days=given.minimum_days_ago)
    )


def _wanted(given: SearchMemoryInput, kind: str, text: str) -> bool:
    if given.event_type and given.event_type.casefold() != kind:
        return False
    return not given.person or given.person.casefold() in text.casefold()


async def _vector(desk: Desk, text: str) -> Vector:
    async with desk.house.database.reading() as conn:
        (vector,) = await embed_cached(conn, desk.house.embedder, [text or " "])
    return vector
