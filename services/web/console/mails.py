"""One whole mail: its text, its HTML in a frame that runs and loads nothing, and its files, which are only saved.

The HTML is cleaned, and is served with a policy of its own that forbids scripts and every load; the frame around it is
sandboxed. Each of the three would do alone.
"""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import quote
from uuid import UUID

import nh3
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.deliveries import ledger, suppressed
from services.operations.threads.mails import MailLine, MailUnknown, attached_file, mail_line, whole_mail
from services.web.console.language import Message
from services.web.console.shown import saved_as
from services.web.console.site import Site

FRAME_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox"
)
FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
TAGS = frozenset(nh3.ALLOWED_TAGS) - {"img", "map", "area", "svg", "math", "style", "link", "object", "embed", "form"}
FRAME = (
    '<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Mail</title><style>'
    "body{{font:16px/1.5 system-ui,sans-serif;color:#1b1d21;background:#fff;margin:12px;overflow-wrap:anywhere}}"
    "table{{max-width:100%}}blockquote{{margin:0;padding-left:12px;border-left:3px solid #ccc;color:#555}}"
    "</style></head><body>{body}</body></html>"
)


def mail_pages(site: Site) -> APIRouter:
    """The mail, its frame, its files."""
    router, app = site.router(), site.app

    async def found(mail_id: UUID) -> MailLine:
        async with app.database.reading() as conn:
            try:
                return await mail_line(conn, app.settings.workspace, mail_id)
            except MailUnknown as error:
                raise RequestRefused(404, "mail_unknown", str(error)) from None

    @router.get("/mails/{mail_id}")
    async def whole(request: Request, mail_id: UUID) -> HTMLResponse:
        line = await found(mail_id)
        try:
            mail = await whole_mail(app, line)
        except MailUnknown as error:
            raise RequestRefused(410, "mail_gone", str(error)) from None
        return site.page(request, "mail.html", line=line, mail=mail)

    @router.get("/mails/{mail_id}/html")
    async def frame(mail_id: UUID) -> HTMLResponse:
        line = await found(mail_id)
        try:
            mail = await whole_mail(app, line)
        except MailUnknown as error:
            raise RequestRefused(410, "mail_gone", str(error)) from None
        page = FRAME.format(language=mail.language if mail.language.isalpha() else "en", body=cleaned(mail.html))
        return HTMLResponse(page, headers={"Content-Security-Policy": FRAME_POLICY})

    @router.get("/mails/{mail_id}/files/{number}")
    async def file(mail_id: UUID, number: int) -> Response:
        line = await found(mail_id)
        try:
            name, content = await attached_file(app, line, number)
        except MailUnknown as error:
            raise RequestRefused(404, "file_unknown", str(error)) from None
        headers = {
            "Content-Security-Policy": FILE_POLICY,
            "Content-Disposition": disposition(name),
        }
        return Response(content, media_type="application/octet-stream", headers=headers)

    return router


def disposition(name: str) -> str:
    """The header by which a file is saved and never shown (RFC 6266), whatever it is called."""
    return f"attachment; filename*=UTF-8''{quote(saved_as(name), safe='')}"


def cleaned(html: str) -> str:
    """The HTML without anything that runs, loads or submits; pictures are left out, since they tell who reads."""
    return nh3.clean(html, tags=set(TAGS), url_schemes={"http", "https", "mailto"}, link_rel="noopener noreferrer")


# Replies on their way out: what is unknown, put off, bounced, and who gets no mail.
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
