"""Signing in to the console: a password, a one-time link, or an account elsewhere becomes a session of a user.

openid.py    what an OpenID provider says of who signs in, and whether it holds
on_the_way.py  browsers on their way to the provider and back

How often somebody may try is the pages' own: `services/web/console/sign_in.py`.

Invariants
- A token is known to its bearer alone; the table has its hash.
- A link becomes one session at most, and opening it changes nothing: a person has to go on, and that uses it up.
- A link without a user makes the first one, an admin, and counts for nothing once there is one.
- A session is worth what its user is worth at that moment: who was removed has none, at the next request.
- Whatever is past its time counts for nothing, and its row goes when the next link is made or used.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from services.core.app import App
from services.core.clock import random_bytes
from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.core.ids import token_sha256
from services.operations import users
from services.operations.users import User
from services.operations.users.passwords import check_password

SQL = queries(__file__)
LINK_LASTS = timedelta(minutes=15)
INVITATION_LASTS = timedelta(days=7)
SESSION_LASTS = timedelta(hours=12)
TOKEN_BYTES = 32


class LinkUsed(Permanent):
    """The link was used already, is too old, or never was one: `correspondent console` prints another."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link that can still be used: whose it is, None where it makes the first user."""

    user: User | None


@dataclass(frozen=True, slots=True)
class Session:
    """Who is signed in; `token_sha256` names the session."""

    token_sha256: str
    user: User
    expires_at: datetime

    @property
    def by(self) -> str:
        """The name that is recorded with what they do."""
        return self.user.name


async def make_link(app: App, user: User | None = None, lasts: timedelta = LINK_LASTS) -> str:
    """The token of a new one-time link of a user; without one it makes the first user."""
    return await _store(app, "link", user, lasts)


async def link_of(app: App, token: str) -> Link:
    """What a link is. It is not used up by asking. Raises `LinkUsed`."""
    row = await _row(app, token, "link")
    if row is None or (row["user_id"] is None and not await users.is_empty(app)):
        raise LinkUsed(str(LinkUsed.__doc__))
    try:
        return Link(await users.user_of(app, row["user_id"]) if row["user_id"] else None)
    except users.UserUnknown:
        raise LinkUsed(str(LinkUsed.__doc__)) from None


async def become_first(app: App, token: str, name: str, email: str, password: str) -> str:
    """Use a link up that makes the first user: the token of their session.

    Raises `LinkUsed`, `UserRefused`, `PasswordRefused`; the link can then still be used.
    """
    if (await link_of(app, token)).user is not None:
        raise LinkUsed(str(LinkUsed.__doc__))
    check_password(password)  # before anything is made
    user = await users.add_user(app, name, "admin", by="", email=email, joined=True)
    await users.set_password(app, user.user_id, password)
    await _use(app, token)
    return await begin(app, user)


async def sign_in(app: App, token: str, password: str = "") -> str:
    """Use a user's link up: the token of their session. A password that is given is theirs from now on.

    Raises `LinkUsed`, `PasswordRefused`; after the second the link can still be used.
    """
    user = (await link_of(app, token)).user
    if user is None:
        raise LinkUsed(str(LinkUsed.__doc__))
    if password:
        check_password(password)  # before the link is used up
    await _use(app, token)
    if password:
        await users.set_password(app, user.user_id, password)
    async with app.database.reading() as conn:
        args = {"user_id": user.user_id, "workspace": app.settings.workspace, "now": app.now()}
        await conn.execute(users.SQL.join, args)
    return await begin(app, user)


async def begin(app: App, user: User) -> str:
    """The token of a new session of a user who has shown that it is them."""
    return await _store(app, "session", user, SESSION_LASTS)


async def session_of(app: App, token: str) -> Session | None:
    """The session of a token, None where there is none, or none any more."""
    args = {"token_sha256": token_sha256(token), "workspace": app.settings.workspace, "now": app.now()}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.session, args)
    if row is None:
        return None
    mine = {name: row.pop(name) for name in ("token_sha256", "expires_at")}
    return Session(**mine, user=User(**row))


async def sign_out(app: App, session: Session) -> None:
    """End a session."""
    args = {"token_sha256": session.token_sha256, "workspace": app.settings.workspace}
    async with app.database.reading() as conn:
        await conn.execute(SQL.end, args)


async def _use(app: App, token: str) -> None:
    args = {"token_sha256": token_sha256(token), "workspace": app.settings.workspace, "now": app.now()}
    async with app.database.reading() as conn:
        if await fetch_one(conn, SQL.use_link, args) is None:
            raise LinkUsed(str(LinkUsed.__doc__))


async def _row(app: App, token: str, kind: str) -> dict[str, Any] | None:
    args = {"token_sha256": token_sha256(token), "workspace": app.settings.workspace, "kind": kind, "now": app.now()}
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.known, args)


async def _store(app: App, kind: str, user: User | None, lasts: timedelta) -> str:
    token = base64.urlsafe_b64encode(random_bytes(TOKEN_BYTES)).decode().rstrip("=")
    now = app.now()
    user_id: UUID | None = user.user_id if user else None
    row = {
        "token_sha256": token_sha256(token),
        "workspace": app.settings.workspace,
        "kind": kind,
        "by": user.name if user else "",
        "user_id": user_id,
        "now": now,
        "expires_at": now + lasts,
    }
    async with app.database.reading() as conn:
        await conn.execute(SQL.forget_expired, {"now": now})
        await conn.execute(SQL.store, row)
    return token
