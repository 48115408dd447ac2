"""The test of an inbox, asked for on the page of settings: each step in words, and what to do where it failed."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.operations.inbox_test import AskedTooOften, InboxUnknown
from services.web.console import findings
from services.web.console.language import Message
from services.web.console.site import Site

STEPS: Mapping[str, str] = {
    "imap": Message("How mail comes"),
    "imap dns": Message("Name of the IMAP server"),
    "imap connection": Message("Connection to the IMAP server"),
    "imap token": Message("Access token for IMAP"),
    "imap tls": Message("Encryption of IMAP"),
    "imap login": Message("Login to IMAP"),
    "imap session": Message("Session with the IMAP server"),
    "imap folder": Message("Login and folder"),
    "sender results": Message("What your server says of senders"),
    "smtp dns": Message("Name of the SMTP server"),
    "smtp connection": Message("Connection to the SMTP server"),
    "smtp token": Message("Access token for SMTP"),
    "smtp tls": Message("Encryption of SMTP"),
    "smtp login": Message("Login to SMTP"),
    "smtp session": Message("Greeting, encryption and login of SMTP"),
    "dkim key": Message("Key that signs replies"),
    "dkim record": Message("Key in the DNS"),
    "dkim domain": Message("Domain that signs"),
    "time": Message("Time"),
}


def inbox_test(site: Site) -> APIRouter:
    """What the button sends, for admins."""
    router, tests = site.router(reads="admin", acts="admin"), site.trials.inbox_tests

    @router.post("/settings/inboxes/{name}/test")
    async def test(request: Request, name: str) -> HTMLResponse:
        try:
            found = await tests.run(name)
        except InboxUnknown as error:
            raise RequestRefused(404, "inbox_unknown", str(error)) from None
        except AskedTooOften as error:
            raise RequestRefused(429, "too_many", str(error)) from None
        return site.page(request, "inbox_test.html", inbox=name, findings=found, steps=STEPS, said=findings)

    return router
