"""API tokens that users make for themselves: what is done with one is recorded under their name.

A token may never do what its user may not in the console: a viewer's reads alone, some areas are for an admin's (the
API's routes say which), and it is worth nothing once they are removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from services.core.app import App
from services.core.clock import random_bytes, random_id
from services.core.db import fetch_all, fetch_one
from services.core.errors import Permanent
from services.core.ids import token_sha256
from services.operations.users import ROLES, SQL, Role, User

LASTS = timedelta(days=365)
MOST = 20  # of one user
PREFIX = "cor_"
REQUESTS_PER_MINUTE = 600  # of all tokens of a user


class TokenRefused(Permanent):
    """A token cannot be made so."""


@dataclass(frozen=True, slots=True)
class UserToken:
    """One token, without what it is."""

    token_id: UUID
    label: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose token a request came with, and what it is for."""

    name: str
    role: Role
    scopes: tuple[str, ...]
    names_people: bool = False
    requests_per_minute: int = REQUESTS_PER_MINUTE

    def may(self, scope: str) -> bool:
        """Whether it is for this, and its user may read or act at all."""
        return ("all" in self.scopes or scope in self.scopes) and self.has(
            "viewer" if scope.endswith(":read") else "agent"
        )

    def has(self, role: Role) -> bool:
        """Whether its user may do what `role` may."""
        return ROLES.index(self.role) >= ROLES.index(role)


async def make_token(app: App, user: User, label: str, scopes: Sequence[str]) -> str:
    """A new token, which is shown once. Raises `TokenRefused`."""
    if not label.strip() or len(label) > 100:
        raise TokenRefused("say what the token is for, in 1 to 100 characters")
    if not scopes:
        raise TokenRefused("choose what it may do")
    if len(await tokens_of(app, user)) >= MOST:
        raise TokenRefused(f"a user has at most {MOST} tokens: revoke one first")
    token, now = PREFIX + random_bytes(24).hex(), app.now()
    row = _args(app, user) | {
        "token_sha256": token_sha256(token),
        "token_id": random_id(),
        "label": label.strip(),
        "scopes": list(scopes),
        "now": now,
        "expires_at": now + LASTS,
    }
    async with app.database.reading() as conn:
        await conn.execute(SQL.forget_tokens, {"now": now})
        await conn.execute(SQL.add_token, row)
    return token


async def tokens_of(app: App, user: User) -> list[UserToken]:
    """The tokens of a user, the newest first."""
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.tokens, _args(app, user) | {"now": app.now()})
    return [UserToken(**row | {"scopes": tuple(row["scopes"])}) for row in rows]


async def revoke_token(app: App, user: User, token_id: UUID) -> None:
    """End one token of a user."""
    async with app.database.reading() as conn:
        await conn.execute(SQL.end_token, _args(app, user) | {"token_id": token_id})


async def bearer(app: App, token: str) -> Bearer | None:
    """Whose token it is, None where it is nobody's, or nobody's any more."""
    if not token.startswith(PREFIX):
        return None
    args = {"workspace": app.settings.workspace, "token_sha256": token_sha256(token), "now": app.now()}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.bearer, args)
    return Bearer(row["name"], row["role"], tuple(row["scopes"])) if row else None


def _args(app: App, user: User) -> dict[str, Any]:
    return {"workspace": app.settings.workspace, "user_id": user.user_id}
