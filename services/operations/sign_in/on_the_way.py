"""Browsers on their way to an OpenID provider and back.

Invariants
- An answer counts once, within `LASTS`, and in the browser that set out: several tabs of it each have their own.
- The table holds hashes. Nonce and verifier follow from the state and the deployment's secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from services.core.app import App
from services.core.clock import random_bytes
from services.core.db import fetch_one
from services.core.errors import Permanent, Temporary
from services.core.ids import token_sha256
from services.operations.sign_in import SQL

LASTS = timedelta(minutes=10)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
LOST = (
    "this sign-in was begun in another browser, has been used already, or took longer than 10 minutes: begin again, at "
    "the address of the console that your colleagues use"
)


class ProviderAway(Temporary):
    """The provider did not answer as it should, and may later."""


class ProviderWrong(Permanent):
    """The provider and the settings do not fit together: an operator has to look."""


class SignInRefused(Permanent):
    """The provider did not say who signs in, or what it said does not hold."""


@dataclass(frozen=True, slots=True)
class Question:
    """What makes an answer of the provider one to this sign-in: each is unpredictable, and used once."""

    redirect: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Way:
    """Where somebody who comes back goes on to; `user_id`: whose account is linked, None where somebody signs in."""

    place: str
    user_id: UUID | None


def browser_token(known: str) -> str:
    """What a browser is known by on its way: what it has already, else a new token."""
    return known if _TOKEN.fullmatch(known) else _text(random_bytes(32))


async def set_out(app: App, browser: str, redirect: str, place: str, user_id: UUID | None = None) -> Question:
    """A new question to the provider, of this browser alone."""
    state, now = _text(random_bytes(32)), app.now()
    row = _args(app, state, browser) | {"place": place, "user_id": user_id, "expires_at": now + LASTS}
    async with app.database.reading() as conn:
        await conn.execute(SQL.forget_lost, {"now": now})
        await conn.execute(SQL.set_out, row)
    return question_of(app, redirect, state)


async def come_back(app: App, browser: str, state: str) -> Way:
    """Use a question up. Raises `SignInRefused` where it is none of this browser's, or none any more."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.come_back, _args(app, state, browser) | {"now": app.now()})
    if row is None:
        raise SignInRefused(LOST)
    return Way(**row)


def question_of(app: App, redirect: str, state: str) -> Question:
    """The question that has this state."""
    return Question(redirect, state, nonce=_derived(app, "nonce", state), verifier=_derived(app, "verifier", state))


def _derived(app: App, what: str, state: str) -> str:
    said = f"openid {what} {state}".encode("utf-8", "surrogatepass")
    return _text(hmac.new(app.secret, said, hashlib.sha256).digest())


def _args(app: App, state: str, browser: str) -> dict[str, object]:
    return {
        "workspace": app.settings.workspace,
        "state_sha256": token_sha256(state),
        "browser_sha256": token_sha256(browser),
    }


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
