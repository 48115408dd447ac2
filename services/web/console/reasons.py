"""Why a reply says what it says: what the model was given, what shaped it, what it decided."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.archive.archive import archive_of
from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.web import RequestRefused
from services.operations.threads.explanations import Explanation, NothingToExplain, explain_reply, explain_thread
from services.operations.threads.inbox import lines_of
from services.web.console.language import translated
from services.web.console.site import Site


def reason_pages(site: Site) -> APIRouter:
    """Of a thread's newest turn, of one turn, or of a reply."""
    router, app = site.router(), site.app
    workspace, archive = app.settings.workspace, archive_of(app.settings)

    @router.get("/threads/{thread_id}/why")
    async def of_thread(request: Request, thread_id: UUID, turn: UUID | None = None) -> HTMLResponse:
        async with app.database.reading() as conn:
            try:
                found = await explain_thread(conn, workspace, thread_id, turn, archive=archive)
            except (NothingToExplain, ArchiveMissing, ArchiveDamaged) as error:
                raise _unexplained(error) from None
        return await shown(request, found)

    @router.get("/replies/{reply_id}/why")
    async def of_reply(request: Request, reply_id: UUID) -> HTMLResponse:
        async with app.database.reading() as conn:
            try:
                found = await explain_reply(conn, workspace, reply_id, archive=archive)
            except (NothingToExplain, ArchiveMissing, ArchiveDamaged) as error:
                raise _unexplained(error) from None
        return await shown(request, found)

    async def shown(request: Request, found: Explanation) -> HTMLResponse:
        async with app.database.reading() as conn:
            (line,) = (await lines_of(conn, workspace, [found.thread_id])).values()
        chosen = sorted(found.settings.items())
        named = [(name, one) for name, one in chosen if one.source != "default"]
        plain = [(name, one) for name, one in chosen if one.source == "default"]
        titles = {str(item["id"]): item.get("title") for one in found.layers for item in one.items if "id" in item}
        about: dict[str, Any] = {"why": found, "line": line, "named": named, "defaults": plain, "titles": titles}
        return site.page(request, "why.html", **about)

    return router


def _unexplained(error: Exception) -> RequestRefused:
    if isinstance(error, NothingToExplain):
        said = translated("The agent has not answered in this thread yet, or the people in it were erased.")
        return RequestRefused(404, "context_unknown", f"{error}. {said}")
    return RequestRefused(503, "archive_unreadable", str(error))
