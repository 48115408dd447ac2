"""The inbox: threads by who has to act next, and found by words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.core.web_paging import After
from services.operations.threads.inbox import View, count_needing_a_person, found, inbox, lines_of
from services.operations.users import list_users
from services.web.console.site import Site, viewer

LINES = 50  # a page
VIEWS = {
    "needs_me": ("Needs me", "Escalated to a person, or a draft waits for approval."),
    "mine": ("Mine", "Open threads that are assigned to you."),
    "agent": ("Agent has it", "The agent writes an answer, or has answered and left it open."),
    "customer": ("Waiting", "Answered; the customer's word is next."),
    "resolved": ("Resolved", "Resolved or closed."),
    "all": ("All", "Every thread."),
}
EMPTY = {
    "needs_me": "Nothing needs you. Escalated threads and drafts that wait for approval appear here.",
    "mine": "No open thread is yours. Take one over on its page, or assign several in another view.",
    "agent": "The agent has nothing in hand. New mail appears here until it is answered.",
    "customer": "No thread waits for a customer.",
    "resolved": "No thread is resolved yet.",
    "all": "No mail has come yet. Send one with `correspondent write`, or connect an inbox.",
}
assert tuple(VIEWS) == get_args(View)


def inbox_pages(site: Site) -> APIRouter:
    """The list."""
    router = site.router()

    @router.get("/inbox")
    async def threads(
        request: Request,
        view: View = "needs_me",
        q: Annotated[str, Query(max_length=200)] = "",
        after: After = "",
    ) -> HTMLResponse:
        return await show_inbox(site, request, view, q.strip(), after)

    return router


async def show_inbox(
    site: Site,
    request: Request,
    view: View = "needs_me",
    asked: str = "",
    after: str = "",
    *,
    refused: Mapping[UUID, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The page; `refused` are threads of which something was asked in vain, and why. Raises `BadCursor`."""
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        if asked:
            lines = await found(conn, workspace, asked, limit=LINES, after=after)
        else:
            lines = await inbox(conn, workspace, view, assignee=viewer(request), limit=LINES, after=after)
        about: dict[str, Any] = {"mine": await count_needing_a_person(conn, workspace)}
        named = await lines_of(conn, workspace, list(refused or ()))
    if asked:
        empty = f"No subject, no person and no message has the words “{asked}”, or words that begin so."
    else:
        empty = EMPTY[view] if not after else "There is nothing further down."
    people = [one.name for one in await list_users(app) if one.may("agent")]
    failed = [(named[id].subject if id in named else str(id), why) for id, why in (refused or {}).items()]
    about |= {"view": view, "q": asked, "after": after, "lines": lines, "empty": empty, "views": VIEWS}
    return site.page(request, "inbox.html", status, people=people, refused=failed, **about)
