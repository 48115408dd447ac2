"""The cookies that carry a session and what a browser is known by, and the token that each form of a session carries.

Over https the cookie is `__Host-` bound: no other host of the domain can set or read it. Plain http is for this machine
alone, where no network carries it.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

from fastapi import Request, Response

from services.core.app import App
from services.core.clock import random_bytes
from services.core.mailbox import MailboxKey
from services.core.settings.web import LOOPBACK
from services.core.web import RequestRefused
from services.operations.sign_in import SESSION_LASTS, Session
from services.web.console.language import Message

SECURE_NAME, LOCAL_NAME = "__Host-correspondent", "correspondent"
WAY = "-way"  # of a browser between here and an OpenID provider
KNOWN = "-known"  # of a browser that somebody signed in with
KNOWN_LASTS = timedelta(days=180)
NOT_PRIVATE = Message(
    "Over plain http anybody on the way could take over your session. Open the console over https, or as localhost on "
    "the machine that it runs on."
)


def is_private(request: Request) -> bool:
    """Whether nobody between browser and deployment can read what is sent: https, or http on one machine."""
    return request.url.scheme == "https" or request.url.hostname in LOOPBACK


def only_private(request: Request) -> None:
    """Raises `RequestRefused` where somebody could read what is sent."""
    if not is_private(request):
        raise RequestRefused(403, "not_private", str(NOT_PRIVATE))


def token_in(request: Request) -> str:
    """The token of the session that a request came with, "" where there is none."""
    return request.cookies.get(_name(request), "")


def give(response: Response, request: Request, token: str) -> None:
    """Have the browser keep a session's token."""
    secure = request.url.scheme == "https"
    lasts = int(SESSION_LASTS.total_seconds())
    response.set_cookie(_name(request), token, max_age=lasts, path="/", secure=secure, httponly=True, samesite="strict")


def take(response: Response, request: Request) -> None:
    """Have the browser forget it."""
    secure = request.url.scheme == "https"
    response.delete_cookie(_name(request), path="/", secure=secure, httponly=True, samesite="strict")


def way_in(request: Request) -> str:
    """What a browser is known by that comes back from an OpenID provider, "" where it never set out."""
    return request.cookies.get(_name(request) + WAY, "")


def give_way(response: Response, request: Request, token: str, lasts: timedelta) -> None:
    """Have the browser keep what it is known by on its way; it comes back from another site, so `lax`."""
    secure, kept_s = request.url.scheme == "https", int(lasts.total_seconds())
    name = _name(request) + WAY
    response.set_cookie(name, token, max_age=kept_s, path="/", secure=secure, httponly=True, samesite="lax")


def known_in(app: App, request: Request, email: str) -> str:
    """What a browser is called in which the owner of an address signed in before, "" where they never did.

    It lets nobody in: a stranger who guesses at an account uses up their own tries, and not those of such a browser.
    """
    name, _, proof = request.cookies.get(_name(request) + KNOWN, "").partition(".")
    return name if hmac.compare_digest(_known(app, name, email).encode(), proof.encode("utf-8", "replace")) else ""


def give_known(app: App, response: Response, request: Request, email: str) -> None:
    """Have the browser keep that the owner of this address signed in with it."""
    name, secure = known_in(app, request, email) or random_bytes(16).hex(), request.url.scheme == "https"
    lasts, value = int(KNOWN_LASTS.total_seconds()), f"{name}.{_known(app, name, email)}"
    kept = _name(request) + KNOWN
    response.set_cookie(kept, value, max_age=lasts, path="/", secure=secure, httponly=True, samesite="strict")


def form_token(app: App, session: Session) -> str:
    """What each form of this session carries, and nobody else can make."""
    return hmac.new(app.secret, f"console form {session.token_sha256}".encode(), hashlib.sha256).hexdigest()


def is_form_token(app: App, session: Session, given: str) -> bool:
    """Whether a form came from a page of this session; compared in constant time."""
    return hmac.compare_digest(form_token(app, session).encode(), given.encode("utf-8", "surrogatepass"))


def _known(app: App, name: str, email: str) -> str:
    said = f"known browser {name} {MailboxKey(email)}".encode("utf-8", "surrogatepass")
    return hmac.new(app.secret, said, hashlib.sha256).hexdigest()


def _name(request: Request) -> str:
    return SECURE_NAME if request.url.scheme == "https" else LOCAL_NAME
