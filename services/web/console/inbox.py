"""The inbox: threads by who has to act next, and found by words."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.core.web_paging import After
from services.operations.threads.inbox import View, count_needing_a_person, found, inbox
from services.web.console.site import Site

LINES = 50  # a page
VIEWS = {
    "needs_me": ("Needs me", "Escalated to a person, or a draft waits for approval."),
    "agent": ("Agent has it", "The agent writes an answer, or has answered and left it open."),
    "customer": ("Waiting for customer", "Answered; the customer's word is next."),
    "resolved": ("Resolved", "Resolved or closed."),
    "all": ("All", "Every thread."),
}
EMPTY = {
    "needs_me": "Nothing needs you. Escalated threads and drafts that wait for approval appear here.",
    "agent": "The agent has nothing in hand. New mail appears here until it is answered.",
    "customer": "No thread waits for a customer.",
    "resolved": "No thread is resolved yet.",
    "all": "No mail has come yet. Send one with `correspondent write`, or connect an inbox.",
}
assert tuple(VIEWS) == get_args(View)


def inbox_pages(site: Site) -> APIRouter:
    """The list."""
    router, app = site.router(), site.app

    @router.get("/inbox")
    async def threads(
        request: Request,
        view: View = "needs_me",
        q: Annotated[str, Query(max_length=200)] = "",
        after: After = "",
    ) -> HTMLResponse:
        workspace, asked = app.settings.workspace, q.strip()
        async with app.database.reading() as conn:
            if asked:
                lines = await found(conn, workspace, asked, limit=LINES, after=after)
            else:
                lines = await inbox(conn, workspace, view, limit=LINES, after=after)
            mine = await count_needing_a_person(conn, workspace)
        if asked:
            empty = f"No subject and no person has the words “{asked}”, or words that begin so."
        else:
            empty = EMPTY[view] if not after else "There is nothing further down."
        about: dict[str, Any] = {
            "view": view,
            "q": asked,
            "after": after,
            "lines": lines,
            "mine": mine,
            "empty": empty,
            "views": VIEWS,
        }
        return site.page(request, "inbox.html", **about)

    return router
