"""Facts of one participant by meaning, as the agent itself would find them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from services.core.house import House
from services.core.memory.questions import read
from services.core.memory.recall import Answer, recall
from services.core.memory.tuning import tuned


async def find(house: House, participant_id: UUID, text: str, *, now: datetime, limit: int = 20) -> Answer:
    """The best hits, and what they amount to: sure, rings a bell, or nothing."""
    asked = read(text, now)
    from services.core.memory.embeddings import meanings

    (meaning,) = await meanings(house.embedder, [asked.words or " "])
    async with house.database.transaction(house.settings.workspace) as conn:
        return await recall(
            conn,
            workspace=house.settings.workspace,
            participant_id=participant_id,
            asked=asked,
            meaning=meaning,
            now=now,
            tuning=tuned(house.settings.recall),
            limit=limit,
        )
