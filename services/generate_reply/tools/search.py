"""Tools that look things up: the author's memory, and the knowledge base."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.model_output import SearchKnowledgeInput, SearchMemoryInput
from services.core.memory.cue import recalled
from services.core.memory.embeddings import Meaning, meanings
from services.core.memory.knowledge import search_knowledge
from services.core.memory.periods import Window
from services.core.memory.questions import read
from services.core.memory.recall import Answer, in_words, recall
from services.core.memory.search import search_facts
from services.core.memory.tuning import tuned
from services.generate_reply.desk import Desk
from services.generate_reply.tools.refusal import CallRefused

NOTHING = "nothing found"


async def memory(given: SearchMemoryInput, desk: Desk) -> str:
    """How sure memory is, then facts of the author of this mail, and of nobody else, with their dates."""
    if not desk.event.trusted or desk.event.participant_id is None:
        raise CallRefused("the sender is not authenticated: no memory is shown")
    answer = await _recalled(given, desk, desk.event.participant_id)
    kept = [one for one in answer.hits if _wanted(given, one.fact.kind, one.fact.text)][: given.max_results]
    desk.did("looked in memory", f"{len(kept)} facts")
    lines = [f"[{one.fact.fact_id}] {one.fact.valid_from:%Y-%m-%d} {one.fact.kind}: {one.fact.text}" for one in kept]
    if given.query_text:
        lines.insert(0, f"memory: {in_words(answer.recall)}")
    return "\n".join(lines) or NOTHING


async def _recalled(given: SearchMemoryInput, desk: Desk, participant_id: UUID) -> Answer:
    """What the query brings up; the days that the model gives stand before those that its words speak of."""
    asked, days = read(given.query_text, desk.now), _window(given, desk)
    where: dict[str, Any] = {"workspace": desk.workspace, "participant_id": participant_id, "now": desk.now}
    words = asked.words if days is None else given.query_text
    meaning, tuning = await _meaning(desk, words), tuned(desk.house.settings.recall)
    async with desk.house.database.transaction(desk.workspace) as conn:
        if days is None:
            return await recall(conn, **where, asked=asked, meaning=meaning, tuning=tuning, limit=tuning.all_candidates)
        where |= {"query_text": words, "meaning": meaning, "settings": tuning.search}
        hits = await search_facts(conn, **where, window=days, limit=tuning.all_candidates)
    return Answer(hits, recalled(hits, tuning.cue))


async def knowledge(given: SearchKnowledgeInput, desk: Desk) -> str:
    """Passages of our own documents, with the ids to cite."""
    meaning = await _meaning(desk, given.query)
    limit = desk.event.setting("knowledge_chunks", desk.house.settings.context.knowledge_chunks)
    async with desk.house.database.transaction(desk.workspace) as conn:
        found = await search_knowledge(
            conn, workspace=desk.workspace, query_text=given.query, meaning=meaning, limit=limit
        )
    desk.passages.update(str(one.chunk_id) for one in found)
    desk.did("looked in the knowledge base", f"{len(found)} passages")
    return "\n\n".join(f"[{one.chunk_id}] {one.place}\n{one.text}" for one in found) or NOTHING


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


async def _meaning(desk: Desk, text: str) -> Meaning:
    (meaning,) = await meanings(desk.house.embedder, [text or " "])
    return meaning
