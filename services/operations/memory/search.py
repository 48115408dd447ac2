"""Facts of one participant by meaning, as the agent itself would find them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from services.core.app import App
from services.memory.questions import read
from services.memory.recall import Answer, recall
from services.memory.tuning import tuned


async def find(app: App, participant_id: UUID, text: str, *, now: datetime, limit: int = 20) -> Answer:
    """The best hits, and what they amount to: sure, rings a bell, or nothing."""
    asked = read(text, now)
    from services.memory.embeddings import meanings

    (meaning,) = await meanings(app.embedder, [asked.words or " "])
    async with app.database.transaction(app.settings.workspace) as conn:
        return await recall(
            conn,
            workspace=app.settings.workspace,
            participant_id=participant_id,
            asked=asked,
            meaning=meaning,
            now=now,
            tuning=tuned(app.settings.recall),
            limit=limit,
        )
