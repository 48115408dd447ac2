"""People who may sign in to the console: invited by an admin under a name that nobody else ever gets.

passwords.py      hashes of passwords
second_factor.py  codes of an authenticator app
invitations.py    the mail with an invitation
tokens.py         API tokens that users make for themselves
identities.py     accounts at an OpenID provider, and whose they are
names.py          when two names look the same
keys.py           single keys of the console
teams.py          who shares a queue of threads
views.py          views of the inbox that users keep
audit.py          what signed-in people did

Invariants
- `name` is what is recorded as `by`. An admin gives it, and no second person ever has it or one that looks the same,
  nor has a team.
- Who was removed has no password, session, token, view or address here any more; their name stays with what they did,
  and marks that let them in by no other way: of the account that they signed in by, and of the address.
- A deployment that has users always has an admin.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.errors import UniqueViolation

from services.core.app import App
from services.core.clock import random_id
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.mailbox import MailboxKey
from services.core.printable import printable
from services.mail.addresses import parse_address
from services.operations.users.names import name_key
from services.operations.users.passwords import hash_password, is_password

SQL = queries(__file__)
Role = Literal["viewer", "agent", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
LONGEST_NAME = 100  # characters


class UserRefused(Permanent):
    """A user cannot be made or changed so."""


class UserUnknown(Permanent):
    """There is no such user."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may sign in. `joined_at` None: invited, and not here yet; `language` "": as their browser says.

    `first_steps_closed`: they have put the guide to a first answered mail away. `keys` are those that they chose.
    """

    user_id: UUID
    name: str
    email: str
    role: Role
    joined_at: datetime | None
    invited_by: str
    invited_at: datetime
    has_password: bool
    has_second_factor: bool
    language: str
    first_steps_closed: bool
    keys: dict[str, str]

    def may(self, role: Role) -> bool:
        """Whether they may do what `role` may."""
        return ROLES.index(self.role) >= ROLES.index(role)


async def list_users(app: App) -> list[User]:
    """Everybody who may sign in, in the order of their names."""
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.listed, {"workspace": app.settings.workspace})
    return [User(**row) for row in rows]


async def user_named(app: App, name: str) -> User:
    """One user by name or address. Raises `UserUnknown`."""
    key, email = name_key(name), MailboxKey(name)
    found = [one for one in await list_users(app) if name_key(one.name) == key or (email and one.email == email)]
    if not found:
        raise UserUnknown(f"there is no user {name!r}; `correspondent users list` shows them")
    return found[0]


async def is_empty(app: App) -> bool:
    """Whether nobody is a user yet, so that a link makes the first one."""
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.anybody, {"workspace": app.settings.workspace}) is None


async def add_user(app: App, name: str, role: Role, *, by: str, email: str = "", joined: bool = False) -> User:
    """Make a user, who joins by a link. Raises `UserRefused`."""
    row = row_of(app, name, role, by=by, email=email, joined=joined)
    try:
        async with app.database.reading() as conn:
            await insert_user(conn, row)
    except UniqueViolation as error:
        what = "address" if "email" in str(error) else "name"
        raise UserRefused(f"this {what} is taken: it names another user, or one who has left") from None
    return await user_of(app, row["user_id"])


def row_of(app: App, name: str, role: Role, *, by: str, email: str, joined: bool) -> dict[str, Any]:
    """The row of a new user. Raises `UserRefused` for a name or an address that nobody may have."""
    shown, address = name_of(name), MailboxKey(email)
    read = parse_address(address) if address else None
    if address and (read is None or read.name or MailboxKey(read.addr) != address):
        raise UserRefused(f"{email!r} is not one plain mail address")
    return {
        "user_id": random_id(),
        "workspace": app.settings.workspace,
        "name": shown,
        "name_key": name_key(shown),
        "email": address,
        "role": role,
        "by": by,
        "now": app.now(),
        "joined_at": app.now() if joined else None,
    }


def name_of(typed: str) -> str:
    """A name as it is kept, of a user or a team. Raises `UserRefused`."""
    shown = " ".join(typed.split())
    if not shown or len(shown) > LONGEST_NAME or printable(shown) != shown:
        raise UserRefused(f"a name is 1 to {LONGEST_NAME} characters that can be seen")
    return shown


async def insert_user(conn: Connection, row: dict[str, Any]) -> None:
    """Store a new user. Raises `UserRefused` where a team has the name, and `UniqueViolation` where a user has."""
    if await fetch_one(conn, SQL.add, row) is None:
        raise UserRefused("this name is taken: it names a team")


async def user_of(app: App, user_id: UUID) -> User:
    """One user who was not removed. Raises `UserUnknown`."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.one, {"workspace": app.settings.workspace, "user_id": user_id})
    if row is None:
        raise UserUnknown("there is no such user any more")
    return User(**row)


async def set_role(app: App, user_id: UUID, role: Role) -> None:
    """Give a user another role. Raises `UserRefused` where no admin would be left."""
    async with app.database.transaction() as conn:
        await _keep_an_admin(app, conn, user_id, stays=role == "admin")
        await conn.execute(SQL.set_role, _args(app, user_id) | {"role": role})


async def set_language(app: App, user_id: UUID, language: str) -> None:
    """Have the console be in a language for a user; "": in that of their browser."""
    async with app.database.reading() as conn:
        await conn.execute(SQL.set_language, _args(app, user_id) | {"language": language})


async def close_first_steps(app: App, user_id: UUID, closed: bool) -> None:
    """Show a user the guide to a first answered mail no more, or again."""
    async with app.database.reading() as conn:
        await conn.execute(SQL.close_first_steps, _args(app, user_id) | {"closed": closed})


async def remove_user(app: App, user_id: UUID) -> None:
    """Let a user in no more, from the next request on. Raises `UserRefused` where no admin would be left."""
    async with app.database.transaction() as conn:
        await _keep_an_admin(app, conn, user_id, stays=False)
        await conn.execute(SQL.end_sessions, _args(app, user_id) | {"but": ""})
        await conn.execute(SQL.end_tokens, _args(app, user_id))
        await conn.execute(SQL.forget_views, _args(app, user_id))
        row = await fetch_one(conn, SQL.one, _args(app, user_id))
        left = address_mark(app.secret, row["email"]) if row and row["email"] else ""
        await conn.execute(SQL.remove, _args(app, user_id) | {"now": app.now(), "left": left})


async def set_password(app: App, user_id: UUID, password: str, *, session: str = "") -> None:
    """Give a user a new password; their other sessions end. Raises `PasswordRefused`."""
    hashed = await hash_password(password)
    async with app.database.transaction() as conn:
        await conn.execute(SQL.set_password, _args(app, user_id) | {"hash": hashed})
        await conn.execute(SQL.end_sessions, _args(app, user_id) | {"but": session})


async def with_password(app: App, email: str, password: str) -> User | None:
    """The user whose address and password these are. It takes as long where there is none."""
    args = {"workspace": app.settings.workspace, "email": MailboxKey(email)}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.by_email, args)
    right = await is_password(password, row["password_hash"] if row else "")
    return await user_of(app, row["user_id"]) if row and right else None


def address_mark(secret: bytes, email: str) -> str:
    """What stays of the address of somebody who was removed: it tells the same address, and nothing else."""
    return hmac.new(secret, f"removed user {MailboxKey(email)}".encode(), hashlib.sha256).hexdigest()


async def _keep_an_admin(app: App, conn: Connection, user_id: UUID, *, stays: bool) -> None:
    """Hold the admins' rows, so that two of them cannot remove each other at once."""
    rows = await fetch_all(conn, SQL.admins, {"workspace": app.settings.workspace})
    if not stays and [row["user_id"] for row in rows] == [user_id]:
        raise UserRefused("this is the only admin: make somebody else one first")


def _args(app: App, user_id: UUID) -> dict[str, Any]:
    return {"workspace": app.settings.workspace, "user_id": user_id}
