"""What is remembered by meaning, as the agent itself would find it: facts, and what was said.

Without a participant the whole workspace is searched, which is for operators.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from services.core.app import App
from services.memory.questions import read
from services.memory.recall import Answer, language_of, recall
from services.memory.tuning import tuned

if TYPE_CHECKING:
    from services.memory.embeddings import Meaning
    from services.memory.said import Heard
    from services.memory.search import Hit


async def find(app: App, participant_id: UUID, text: str, *, now: datetime, limit: int = 20) -> Answer:
    """One participant's best facts, and what they amount to: sure, rings a bell, or nothing."""
    asked = read(text, now)
    meaning = await _meaning(app, asked.words)
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


async def find_everywhere(app: App, text: str, *, now: datetime, limit: int = 20) -> list[Hit]:
    """The best facts of everybody, best first; those of another time where none is of the time that the text names."""
    from services.memory.search import search_facts

    asked = read(text, now)
    given: dict[str, Any] = {
        "workspace": app.settings.workspace,
        "participant_id": None,
        "query_text": asked.words,
        "meaning": await _meaning(app, asked.words),
        "now": now,
        "limit": limit,
        "language": asked.language,
        "settings": tuned(app.settings.recall).search,
    }
    async with app.database.transaction(app.settings.workspace) as conn:
        then = await search_facts(conn, **given, window=asked.window)
        return then or await search_facts(conn, **given)


async def find_said(app: App, participant_id: UUID | None, text: str, *, now: datetime, limit: int = 20) -> Heard:
    """The best of what was said that a participant may see, or of what anybody said, best first, and if it answers."""
    from services.memory.said import names_of, search_said
    from services.memory.voice import own_words

    asked = read(text, now)
    meaning, language, names = await _meaning(app, asked.words), asked.language, list[str]()
    if participant_id is not None:
        async with app.database.transaction(app.settings.workspace) as conn:
            language = await language_of(conn, participant_id, asked)
            names = await names_of(conn, app.settings.workspace, participant_id)
    own = await own_words(app.embedder, asked.words, names, language)
    async with app.database.transaction(app.settings.workspace) as conn:
        return await search_said(
            conn,
            workspace=app.settings.workspace,
            participant_id=participant_id,
            query_text=asked.words,
            meaning=meaning,
            own_words=own,
            language=language,
            window=asked.window,
            limit=limit,
        )


async def _meaning(app: App, words: str) -> Meaning:
    from services.memory.embeddings import meanings

    (meaning,) = await meanings(app.embedder, [words or " "])
    return meaning
