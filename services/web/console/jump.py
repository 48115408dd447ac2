"""Anywhere by its first characters: the pages, people and threads that they name. A page, and what Ctrl-K asks."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.operations.memory.people import list_people
from services.operations.threads.inbox import found, lines_of
from services.operations.users import Role
from services.web.console.language import Message
from services.web.console.site import Site, user_in

HITS = 7  # of each kind
PLACES: tuple[tuple[str, Message, Role], ...] = (
    ("/inbox", Message("Inbox"), "viewer"),
    ("/inbox?view=mine", Message("Mine"), "viewer"),
    ("/drafts", Message("Drafts"), "viewer"),
    ("/drafts/next", Message("Next draft"), "viewer"),
    ("/people", Message("People"), "viewer"),
    ("/knowledge", Message("Knowledge"), "viewer"),
    ("/knowledge/unanswered", Message("Unanswered questions"), "viewer"),
    ("/quality", Message("Quality"), "viewer"),
    ("/memory", Message("Memory in figures"), "viewer"),
    ("/incidents", Message("Incidents"), "viewer"),
    ("/outreach", Message("Mail that we begin"), "viewer"),
    ("/investigations", Message("Investigations"), "viewer"),
    ("/pipeline", Message("Pipeline"), "viewer"),
    ("/pipeline/events", Message("Find events"), "viewer"),
    ("/pipeline/replay", Message("Replay"), "admin"),
    ("/deliveries", Message("Deliveries"), "viewer"),
    ("/settings", Message("Settings"), "viewer"),
    ("/settings/history", Message("Changes of settings"), "admin"),
    ("/first-steps", Message("First steps"), "viewer"),
    ("/me", Message("Password, keys, second factor, tokens"), "viewer"),
    ("/restores", Message("Earlier memory"), "admin"),
    ("/webhooks", Message("Webhooks"), "admin"),
    ("/kit", Message("Parts of the pages"), "admin"),
    ("/teams", Message("Teams"), "viewer"),
    ("/users", Message("Users"), "admin"),
    ("/users/audit", Message("What was done"), "admin"),
)


def jump_page(site: Site) -> APIRouter:
    """The page."""
    router, app = site.router(), site.app

    @router.get("/jump")
    async def jump(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> HTMLResponse:
        asked, user = q.strip(), user_in(request)
        places = [(place, name) for place, name, role in PLACES if user.may(role) and is_named(str(name), asked)]
        async with app.database.reading() as conn:
            threads = list(await found(conn, app.settings.workspace, asked, limit=HITS))
            if thread_id := _id(asked):
                threads = list((await lines_of(conn, app.settings.workspace, [thread_id])).values())
            people = await list_people(conn, app.settings.workspace, named=asked, limit=HITS)
        return site.page(request, "jump.html", q=asked, places=places, people=people, threads=threads)

    return router


def is_named(name: str, asked: str) -> bool:
    """Whether each word of what was asked begins one of the name."""
    words = name.casefold().replace(",", " ").split()
    return all(any(word.startswith(one) for word in words) for one in asked.casefold().split())


def _id(asked: str) -> UUID | None:
    try:
        return UUID(asked)
    except ValueError:
        return None
