"""Unsubscribing over HTTP, without a sign-in: a mail program posts (RFC 8058), a person opens the link and confirms.

Opening the link changes nothing, since programs that look at mail open links. What a page says is fixed words.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.core.request_limits import Pace
from services.mail.unsubscribe import PATH
from services.operations.outreach import TokenUnknown, by_token

PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Unsubscribe</title>'
    '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"></head>'
    "<body><main><p>{said}</p>{form}</main></body></html>\n"
)
FORM = '<form method="post"><button>Unsubscribe</button></form>'
ASKS = "Press the button, and you get no more mail from us that you did not ask for."
DONE = "Done: you will get no such mail any more."
TOO_MANY = "That was too often. Wait a minute, and try again."
PER_MINUTE = 10  # of one link: each time is an event
UNKNOWN = "This link is not one of ours, or not whole. Copy all of it from the mail."
SAFE = {"content-security-policy": "default-src 'none'; form-action 'self'", "referrer-policy": "no-referrer"}


def unsubscribing(app: App) -> APIRouter:
    """The two routes."""
    router, pace = APIRouter(include_in_schema=False), Pace(PER_MINUTE)

    @router.get(PATH + "/{token}")
    async def page(token: str) -> HTMLResponse:
        return _page(ASKS, FORM)

    @router.post(PATH + "/{token}")
    async def unsubscribe(token: str) -> HTMLResponse:
        if wait := pace.takes(token):
            return _page(TOO_MANY, status=429, headers={"retry-after": str(int(wait) + 1)})
        try:
            await by_token(app, token)
        except TokenUnknown:
            return _page(UNKNOWN, status=404)
        return _page(DONE)

    return router


def _page(said: str, form: str = "", status: int = 200, headers: dict[str, str] | None = None) -> HTMLResponse:
    return HTMLResponse(PAGE.format(said=said, form=form), status, SAFE | (headers or {}))
