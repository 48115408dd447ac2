"""A person: what is known of them and from where, what the agent is told, and their threads."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.memory.briefs import briefs_of
from services.operations.memory.facts import CURRENT, EVERY, current, in_order, recorded, refusals, with_provenance
from services.operations.memory.people import list_people, same_person
from services.operations.memory.relationship import relationship
from services.operations.memory.timeline import by_month, timeline
from services.operations.threads.inbox import of_person
from services.web.console.language import translated
from services.web.console.site import Site
from services.web.named import person

LINES = 50  # people of a page
THREADS = 20  # threads of a person
MOMENTS = 100  # of a timeline, a page
REFUSED = 10  # what was refused lately


def people_pages(site: Site) -> APIRouter:
    """The list, one person, what came to pass with them, and the history of what was known under a key."""
    router, app = site.router(), site.app
    workspace = app.settings.workspace

    @router.get("/people")
    async def people(
        request: Request, q: Annotated[str, Query(max_length=200)] = "", after: After = ""
    ) -> HTMLResponse:
        asked = q.strip()
        async with app.database.reading() as conn:
            page = await list_people(conn, workspace, named=asked or None, limit=LINES, after=after)
        return site.page(request, "people.html", people=page, after=after, q=asked)

    @router.get("/people/{who}")
    async def one_person(request: Request, who: UUID) -> HTMLResponse:
        one, now = await person(app, str(who)), app.now()
        async with app.database.reading() as conn:
            facts = in_order(await current(conn, workspace, one.participant_id, now), CURRENT)
            entries = await with_provenance(conn, workspace, one.participant_id, facts)
            about: dict[str, Any] = {
                "person": one,
                "others": await same_person(conn, workspace, one.participant_id),
                "relationship": await relationship(conn, workspace, one),
                "threads": await of_person(conn, workspace, one.participant_id, limit=THREADS),
                "refused": await refusals(conn, workspace, one.participant_id, limit=REFUSED),
            }
        briefs = await briefs_of(app, one.participant_id)
        words = app.settings.learning.brief_words
        return site.page(request, "person.html", entries=entries, briefs=briefs, now=now, brief_words=words, **about)

    @router.get("/people/{who}/timeline")
    async def over_months(request: Request, who: UUID, after: After = "") -> HTMLResponse:
        one = await person(app, str(who))
        async with app.database.reading() as conn:
            page = await timeline(conn, app, one.participant_id, limit=MOMENTS, after=after)
        about: dict[str, Any] = {"months": by_month(page), "next": page.next, "after": after}
        return site.page(request, "timeline.html", person=one, **about)

    @router.get("/people/{who}/history")
    async def history(
        request: Request, who: UUID, key: Annotated[str, Query(min_length=1, max_length=80)]
    ) -> HTMLResponse:
        one, now = await person(app, str(who)), app.now()
        async with app.database.reading() as conn:
            known = in_order(await recorded(conn, workspace, one.participant_id, now, key=key), EVERY)
            entries = await with_provenance(conn, workspace, one.participant_id, known)
        if not entries:
            said = translated("Nothing was ever known of this person under this key.")
            raise RequestRefused(404, "key_unknown", said)
        return site.page(request, "history.html", person=one, key=key, entries=entries, now=now)

    return router
