"""Replies on their way out: what is unknown, put off, bounced, and who gets no mail."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.web_paging import After
from services.operations.deliveries import ledger, suppressed
from services.web.console.language import Message
from services.web.console.site import Site

LINES = 50  # a page
State = Literal["", "draft", "approved", "sending", "sent", "unknown", "failed", "bounced", "discarded", "suppressed"]
STATES: dict[State, tuple[str, str]] = {
    "": (Message("All"), Message("No reply has been made yet.")),
    "unknown": (
        Message("Unknown"),
        Message("No reply is unknown: of each one it is known whether its server took it."),
    ),
    "approved": (Message("On its way or put off"), Message("No reply waits to be sent.")),
    "failed": (Message("Failed"), Message("No server has refused a reply for good.")),
    "bounced": (Message("Bounced"), Message("No reply came back.")),
    "sent": (Message("Sent"), Message("No reply was sent yet.")),
    "draft": (Message("Draft"), Message("No draft waits.")),
    "discarded": (Message("Discarded"), Message("No draft was discarded.")),
    "suppressed": (Message("Suppressed addresses"), Message("No address is suppressed.")),
}


def delivery_pages(site: Site) -> APIRouter:
    """The ledger and the list."""
    router, app = site.router(), site.app

    @router.get("/deliveries")
    async def deliveries(request: Request, state: State = "", after: After = "") -> HTMLResponse:
        workspace = app.settings.workspace
        about: dict[str, Any] = {"state": state, "states": STATES, "after": after}
        async with app.database.reading() as conn:
            if state == "suppressed":
                about["rows"] = await suppressed(conn, workspace, limit=LINES, after=after)
            else:
                about["rows"] = await ledger(conn, workspace, state, limit=LINES, after=after)
        return site.page(request, "deliveries.html", **about)

    return router
