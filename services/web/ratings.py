"""What a customer thinks of an answer, without a sign-in: by the link in the reply, on a page of two buttons.

Invariants
- Opening the link counts nothing: programs that look at mail open links, and some of them every link (ADR 831).
- The page holds the inbox's own words, nothing of the customer, and nothing of what was answered.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.core.request_limits import Pace
from services.core.settings.inbox import SatisfactionSettings
from services.core.web import RequestRefused
from services.mail.link_tokens import PATH
from services.operations.ratings import LONGEST_COMMENT, LinkUnknown, Ratable, RatingOver, ratable, rate
from services.web.console.forms import Form, read_form

PER_MINUTE = 10  # of one link
STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1.05rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:32rem;padding:1.5rem}"
    "h1{font-size:1.4rem}label{display:block;margin:1rem 0 .25rem}"
    "textarea{box-sizing:border-box;width:100%;font:inherit}"
    "button{font:inherit;margin:.75rem .75rem 0 0;min-height:2.75rem;padding:.25rem 1.25rem}"
)
POLICY = (
    "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
SAFE = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}
PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
    "<style>" + STYLE.replace("{", "{{").replace("}", "}}") + "</style></head>"
    "<body><main><h1>{title}</h1>{form}</main></body></html>\n"
)
FORM = (
    '<form method="post"><label for="comment">{comment}</label>'
    '<textarea id="comment" name="comment" rows="4" maxlength="{most}" dir="auto"></textarea>'
    '<button name="rating" value="good">{good}</button><button name="rating" value="bad">{bad}</button></form>'
)
NO_RATING = "Choose one of the two buttons."
TOO_MANY = "That was too often. Wait a minute, and try again."


def rating_pages(app: App) -> APIRouter:
    """The two routes."""
    router, pace = APIRouter(include_in_schema=False), Pace(PER_MINUTE)

    @router.get(PATH + "/{token}")
    async def page(token: str) -> HTMLResponse:
        try:
            reply = await ratable(app, token)
        except LinkUnknown as error:
            return _said(_sentence(error), status=404)
        words = _words(app, reply)
        return _said(words.question, _form(words))

    @router.post(PATH + "/{token}")
    async def rating(request: Request, token: str) -> HTMLResponse:
        try:
            reply = await ratable(app, token)
            if wait := pace.takes(str(reply.reply_id)):
                return _said(TOO_MANY, status=429, headers={"retry-after": str(int(wait) + 1)})
            form = await read_form(request)
            await rate(app, reply, _rating(form), form.get("comment", ""))
        except LinkUnknown as error:
            return _said(_sentence(error), status=404)
        except RatingOver as error:
            return _said(_sentence(error), status=409)
        except RequestRefused as error:
            return _said(_sentence(error), status=error.status)
        words = _words(app, reply)
        return _said(words.thanks, _form(words))

    return router


def _rating(form: Form) -> bool:
    if form.get("rating") not in ("good", "bad"):
        raise RequestRefused(422, "invalid", NO_RATING)
    return form["rating"] == "good"


def _words(app: App, reply: Ratable) -> SatisfactionSettings:
    """The inbox's words; those that every inbox has where it is gone from the settings."""
    inbox = app.settings.known_inbox(reply.rated.inbox)
    return inbox.satisfaction if inbox else SatisfactionSettings()


def _form(words: SatisfactionSettings) -> str:
    shown = {name: escape(getattr(words, name)) for name in ("comment", "good", "bad")}
    return FORM.format(**shown, most=LONGEST_COMMENT)


def _sentence(error: Exception) -> str:
    said = str(error)
    return f"{said[:1].upper()}{said[1:].rstrip('.')}."


def _said(title: str, form: str = "", *, status: int = 200, headers: dict[str, str] | None = None) -> HTMLResponse:
    return HTMLResponse(PAGE.format(title=escape(title), form=form), status, SAFE | (headers or {}))
