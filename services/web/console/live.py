"""One stream that says what changed: numbers, keys and versions of events, and nothing of what they say.

A page asks from the event that it was made at. Transactions commit out of order, so that each look reads the last
numbers again and says only those that were not said. The stream ends when the web server stops, and says nothing more
once whoever looks is signed out or removed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from services.core.app import App
from services.core.clock import pause
from services.operations.sign_in import session_of
from services.operations.threads.changes import WINDOW, Change, changes_since
from services.web.console.sessions import token_in
from services.web.console.site import Site

LOOK_EVERY_S = 1.0
BEAT_EVERY = 15  # looks: a line says that the stream lives
BIGGEST = 2**62


def live_stream(site: Site) -> APIRouter:
    """`text/event-stream`, resumed by `Last-Event-ID`."""
    router = site.router()

    @router.get("/live")
    async def live(request: Request, after: Annotated[int, Query(ge=0, le=BIGGEST)] = 0) -> StreamingResponse:
        last = request.headers.get("last-event-id", "")
        since = int(last) if last.isdecimal() and last.isascii() and len(last) < 19 else after
        stop: asyncio.Event = request.app.state.stopping

        async def admitted() -> bool:
            return await session_of(site.app, token_in(request)) is not None

        lines = changes_after(site.app, since, stop, admitted)
        return StreamingResponse(lines, media_type="text/event-stream")

    return router


async def changes_after(
    app: App, since: int, stop: asyncio.Event, admitted: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """What changed after an event, as lines of the stream, until `stop` is set or nobody who is admitted looks.

    That is asked before each line: on a busy deployment there is one at every look.
    """
    newest, looks = since, 0
    said = {one.seq for one in await _look(app, since - WINDOW) if one.seq <= since}
    yield "retry: 2000\n\n"
    while not stop.is_set():
        fresh = [one for one in await _look(app, newest - WINDOW) if one.seq not in said]
        said = {seq for seq in said if seq > newest - WINDOW} | {one.seq for one in fresh}
        if (fresh or looks % BEAT_EVERY == 0) and not await admitted():
            return
        if fresh:
            newest = max(newest, *said)
            yield f"id: {newest}\ndata: {json.dumps(_told(fresh))}\n\n"
        elif looks % BEAT_EVERY == 0:
            yield f"id: {newest}\nevent: beat\ndata: {{}}\n\n"
        looks += 1
        await pause(stop, LOOK_EVERY_S)


def _told(fresh: list[Change]) -> dict[str, dict[str, int]]:
    """The latest version by key, of threads, of people and of their investigations."""
    told: dict[str, dict[str, int]] = {}
    for one in fresh:
        told.setdefault(one.kind, {})[one.key] = one.version
    return told


async def _look(app: App, seq: int) -> list[Change]:
    async with app.database.reading() as conn:
        return await changes_since(conn, app.settings.workspace, seq)
