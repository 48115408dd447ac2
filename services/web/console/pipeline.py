"""The flow with its lag, what waits and what stands still; dead letters, redriven or discarded here.

What only the broker knows is read when somebody asks for it, since a broker may be slow or away: the page comes at
once, and that part of it follows.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from aiokafka.errors import KafkaError
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.core.bus.publisher import LogUnavailable
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations import dead_letters, topics
from services.operations.dead_letters import Choice
from services.operations.events import find_events
from services.operations.health.backlog import read_backlog
from services.operations.health.state import OLD_S, read_health
from services.operations.progress import read_progress
from services.web.bodies import Rejection
from services.web.console.flow import drawing
from services.web.console.forms import checked
from services.web.console.language import Message, translated
from services.web.console.shown import words
from services.web.console.site import Site, done, form_of, viewer
from services.web.dead_letters import letter_named

PAGES = {  # what waits, by its name: the page on which it is seen and done
    "held": "/drafts",
    "escalated": "/inbox",
    "unknown": "/deliveries?state=unknown",
    "uncopied": "/deliveries?state=sent",
    "letters": "/pipeline?now=1#dead-letters",
}
LETTERS = 50  # that are shown
LINES = 50  # events of a page
SILENT = Message("The broker does not answer. What is stored is safe in the database, and is published once it does.")


def pipeline_pages(site: Site) -> APIRouter:
    """The drawing, what waits, and acts on dead letters."""
    router, app = site.router(acts="admin"), site.app

    @router.get("/pipeline")
    async def flow(request: Request, now: bool = False) -> HTMLResponse:
        about = await _read(app) if now else {"read": False, "silent": "", "drawing": drawing({}, {}, read=False)}
        return site.page(request, "pipeline.html", **about)

    @router.get("/pipeline/events")
    async def events(
        request: Request, q: Annotated[str, Query(max_length=320)] = "", after: After = ""
    ) -> HTMLResponse:
        page = await find_events(app, q, limit=LINES, after=after)
        return site.page(request, "events.html", q=q.strip(), events=page, after=after)

    @router.post("/dead-letters/{letter_id}/redrive")
    async def redrive(request: Request, letter_id: str) -> Response:
        one = await letter_named(app, letter_id)
        try:
            await dead_letters.redrive(app, one)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"[:460]
            said = translated("It failed again, and stays a dead letter: %(reason)s", reason=why)
            raise RequestRefused(409, "failed_again", said) from None
        return done("/pipeline", "redriven", "dead-letters")

    @router.post("/dead-letters/{letter_id}/discard")
    async def discard(request: Request, letter_id: str) -> Response:
        body = checked(Rejection, reason=form_of(request).get("reason", ""), by=viewer(request))
        if not body.reason:
            raise RequestRefused(422, "invalid", translated("Say why: it is kept with the dead letter."))
        await dead_letters.discard(app, await letter_named(app, letter_id), f"{body.reason} ({body.by})")
        return done("/pipeline", "discarded", "dead-letters")

    return router


async def _read(app: App) -> dict[str, Any]:
    """What waits, by the database and the broker."""
    try:
        progress = await read_progress(app)
        backlog = await read_backlog(app)
        waiting = await dead_letters.page_of(app, Choice(), every=False, limit=LETTERS, after="")
        health = await read_health(app, progress=progress)
        readings = [one for one in await topics.readings(app, progress) if one.group]
    except (KafkaError, LogUnavailable, OSError, TimeoutError):
        return {"read": False, "silent": SILENT, "drawing": drawing({}, {}, read=False)}
    lags, dead = Counter[str](), Counter(one.group for one in waiting)
    for one in readings:
        lags[one.group] += one.lag
    return {
        "read": True,
        "silent": "",
        "drawing": drawing(lags, dead, read=True),
        "backlog": backlog,
        "health": health,
        "problems": list(health.problems()),
        "letters": waiting,
        "readings": readings,
        "late": [words(name) for name, lag in lags.items() if lag],
        "minutes": int(OLD_S // 60),
        "PAGES": PAGES,
        "at": app.now(),
    }
