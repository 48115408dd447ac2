"""Who is writing in a thread right now. It is told to colleagues, and stops nobody: a reply is bound to what was seen.

Kept in the cache for some seconds. Of two who begin in the same moment one may be missing until they say it again.
"""

from __future__ import annotations

import json
from uuid import UUID

from services.core.app import App

LASTS_S = 30


async def writing(app: App, thread_id: UUID) -> list[str]:
    """The names of those who write; nobody where the cache is away."""
    now = app.now().timestamp()
    return sorted(name for name, at in (await _noted(app, thread_id)).items() if now - at < LASTS_S)


async def note_writing(app: App, thread_id: UUID, name: str) -> None:
    """Say that somebody writes; it holds for `LASTS_S`."""
    now = app.now().timestamp()
    noted = {other: at for other, at in (await _noted(app, thread_id)).items() if now - at < LASTS_S}
    await app.cache.put(_key(app, thread_id), json.dumps(noted | {name: now}), seconds=LASTS_S)


async def _noted(app: App, thread_id: UUID) -> dict[str, float]:
    kept = await app.cache.get(_key(app, thread_id))
    return dict(json.loads(kept)) if kept else {}


def _key(app: App, thread_id: UUID) -> str:
    return f"writing:{app.settings.workspace}:{thread_id}"
