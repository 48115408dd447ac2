"""Signing in to the console: a one-time link becomes a session, which ends by itself or when its person signs out.

Invariants
- A token is known to its bearer alone; the table has its hash.
- A link becomes one session at most, and opening it changes nothing: a person says their name, and that uses it up.
- Whatever is past its time counts for nothing, and its row goes when the next link is made or used.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.core.app import App
from services.core.clock import random_bytes
from services.core.db import fetch_one, queries
from services.core.errors import Permanent

SQL = queries(__file__)
LINK_LASTS = timedelta(minutes=15)
SESSION_LASTS = timedelta(hours=12)
TOKEN_BYTES = 32


class LinkUsed(Permanent):
    """The link was used already, is too old, or never was one: `correspondent console` prints another."""


@dataclass(frozen=True, slots=True)
class Session:
    """Who is signed in: `by` is the name that they gave, `token_sha256` names the session."""

    token_sha256: str
    by: str
    expires_at: datetime


async def make_link(app: App) -> str:
    """The token of a new one-time link."""
    return await _store(app, "link", "", LINK_LASTS)


async def is_link(app: App, token: str) -> bool:
    """Whether the link can still be used. It is not used up by asking."""
    return await _known(app, token, "link") is not None


async def sign_in(app: App, token: str, by: str) -> str:
    """Use a link up: the token of the session that it becomes. Raises `LinkUsed`."""
    args = {"token_sha256": _hash(token), "workspace": app.settings.workspace, "now": app.now()}
    async with app.database.reading() as conn:
        if await fetch_one(conn, SQL.use_link, args) is None:
            raise LinkUsed(str(LinkUsed.__doc__))
    return await _store(app, "session", by, SESSION_LASTS)


async def session_of(app: App, token: str) -> Session | None:
    """The session of a token, None where there is none, or none any more."""
    return await _known(app, token, "session")


async def sign_out(app: App, session: Session) -> None:
    """End a session."""
    args = {"token_sha256": session.token_sha256, "workspace": app.settings.workspace}
    async with app.database.reading() as conn:
        await conn.execute(SQL.end, args)


async def _store(app: App, kind: str, by: str, lasts: timedelta) -> str:
    token = base64.urlsafe_b64encode(random_bytes(TOKEN_BYTES)).decode().rstrip("=")
    now = app.now()
    row = {
        "token_sha256": _hash(token),
        "workspace": app.settings.workspace,
        "kind": kind,
        "by": by,
        "now": now,
        "expires_at": now + lasts,
    }
    async with app.database.reading() as conn:
        await conn.execute(SQL.forget_expired, {"now": now})
        await conn.execute(SQL.store, row)
    return token


async def _known(app: App, token: str, kind: str) -> Session | None:
    args = {
        "token_sha256": _hash(token),
        "workspace": app.settings.workspace,
        "kind": kind,
        "now": app.now(),
    }
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.known, args)
    return Session(**row) if row else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
