"""Accounts at an OpenID provider, and which user somebody is who signed in by one.

Invariants
- An account is known by issuer and subject, which the provider never gives to another person; never by a name.
- A mail address counts only where the provider says that it is verified. It leads to a user only where the settings
  say so, and to none who has an account there already: providers give addresses of people who left to others.
- Who was removed comes back by no account and no address, but where an admin invites them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation

from services.core.app import App
from services.core.db import fetch_all, fetch_one
from services.core.errors import Permanent
from services.core.mailbox import MailboxKey, domain_name
from services.core.printable import printable
from services.core.settings import OidcSettings
from services.core.storable import is_storable
from services.operations import users
from services.operations.users import (
    LONGEST_NAME,
    ROLES,
    SQL,
    Role,
    User,
    UserRefused,
    UserUnknown,
    address_mark,
    insert_user,
    row_of,
)

LONGEST_SUBJECT = 255  # characters (OpenID Connect Core, 2)
LONGEST_ADDRESS = 320

UNINVITED = "you are no user here: ask an admin for an invitation"
REMOVED = "an admin removed you, and has to invite you again"
FOREIGN = "your address is not of a domain that signs in here, or the provider does not say that it is verified"
NO_ROLE = "the provider gives you no role here"
TAKEN = "your name or address is that of another user: sign in as before, and link the account behind your name"
OTHERS = "this account is another user's already"
NOBODY_YET = "nobody is a user yet: `correspondent console` prints a link that makes the first one"


class NotLetIn(Permanent):
    """The provider says who it is, and they may not sign in here."""


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody as the provider says. `email` is "" unless it is verified; `role` None: none."""

    issuer: str
    subject: str
    name: str
    email: str
    role: Role | None


@dataclass(frozen=True, slots=True)
class Identity:
    """An account that is a user's."""

    issuer: str
    linked_at: datetime


def account_of(settings: OidcSettings, claims: Mapping[str, Any]) -> Account:
    """What verified claims say of somebody. Raises `NotLetIn`."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or not is_storable(subject):
        raise NotLetIn("the provider gives you no name that it keeps")
    email = _verified_address(claims)
    if settings.allowed_domains and not _allowed(settings, email):
        raise NotLetIn(FOREIGN)
    return Account(settings.issuer, subject, _name(claims, email), email, _role(settings, claims))


async def user_of_account(app: App, settings: OidcSettings, account: Account) -> User:
    """Which user it is, linked or made where the settings say so, with their role of now. Raises `NotLetIn`."""
    if await users.is_empty(app):
        raise NotLetIn(NOBODY_YET)
    if settings.role_claim and account.role is None:
        raise NotLetIn(NO_ROLE)
    user_id = await _known(app, account)
    if user_id is None and settings.link_by_mail:
        user_id = await _by_address(app, account)
    if user_id is None:
        user_id = await _new(app, settings, account)
    try:
        user = await users.user_of(app, user_id)
        if settings.role_claim and account.role and account.role != user.role:
            user = await _with_role(app, user, account.role)
    except UserUnknown:
        raise NotLetIn(REMOVED) from None
    return user


async def link(app: App, user_id: UUID, account: Account) -> None:
    """Make an account the user's, who has joined by that: no invitation counts any more. Raises `NotLetIn` where it is
    another's.
    """
    args = _args(app, account) | {"user_id": user_id, "now": app.now()}
    async with app.database.transaction() as conn:
        if await fetch_one(conn, SQL.link_identity, args) is None:
            raise NotLetIn(OTHERS)
        await conn.execute(SQL.join, args)
        await conn.execute(SQL.end_links, args)


async def unlink(app: App, user_id: UUID) -> None:
    """Have no account be the user's."""
    async with app.database.reading() as conn:
        await conn.execute(SQL.end_identities, {"workspace": app.settings.workspace, "user_id": user_id})


async def identities_of(app: App, user_id: UUID) -> list[Identity]:
    """The accounts of a user, the oldest first."""
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.identities, {"workspace": app.settings.workspace, "user_id": user_id})
    return [Identity(**row) for row in rows]


async def _known(app: App, account: Account) -> UUID | None:
    """The user whose account it is. One of somebody who was removed leads on by an invitation's address alone."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.identity, _args(app, account))
    return row["user_id"] if row and not row["removed"] else None


async def _by_address(app: App, account: Account) -> UUID | None:
    if not account.email:
        return None
    args = _args(app, account) | {"email": MailboxKey(account.email)}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.with_address, args)
    if row is None:
        return None
    await link(app, row["user_id"], account)
    found: UUID = row["user_id"]
    return found


async def _new(app: App, settings: OidcSettings, account: Account) -> UUID:
    """A user of this account's own. Raises `NotLetIn`."""
    await _was_not_removed(app, account)
    if not settings.create_users:
        raise NotLetIn(UNINVITED)
    if account.role is None:
        raise NotLetIn(NO_ROLE)
    for name in (account.name, f"{account.name[: LONGEST_NAME // 3]} ({account.email})"):
        try:
            return await _made(app, account, account.role, name)
        except UserRefused:
            continue
        except UniqueViolation:
            if found := await _known(app, account):  # the other tab was faster
                return found
    raise NotLetIn(TAKEN)


async def _was_not_removed(app: App, account: Account) -> None:
    secrets = (app.secret, *(one.get_secret_value().encode() for one in app.settings.former_secrets))
    marks = [address_mark(one, account.email) for one in secrets] if account.email else []
    async with app.database.reading() as conn:
        known = await fetch_one(conn, SQL.identity, _args(app, account))
        left = await fetch_one(conn, SQL.left, {"workspace": app.settings.workspace, "marks": marks})
    if known or left:
        raise NotLetIn(REMOVED)


async def _made(app: App, account: Account, role: Role, name: str) -> UUID:
    row = row_of(app, name, role, by="", email=account.email, joined=True)
    async with app.database.transaction() as conn:
        await insert_user(conn, row)
        await conn.execute(SQL.add_identity, _args(app, account) | {"user_id": row["user_id"], "now": app.now()})
    found: UUID = row["user_id"]
    return found


async def _with_role(app: App, user: User, role: Role) -> User:
    try:
        await users.set_role(app, user.user_id, role)
    except UserRefused:  # the only admin stays one, whatever the provider says
        return user
    return await users.user_of(app, user.user_id)


def _verified_address(claims: Mapping[str, Any]) -> str:
    email = claims.get("email")
    verified = claims.get("email_verified") in (True, "true")  # a word at some providers
    return email if verified and isinstance(email, str) and 2 < len(email) <= LONGEST_ADDRESS else ""


def _allowed(settings: OidcSettings, email: str) -> bool:
    return bool(email) and MailboxKey(email).domain in {domain_name(one) for one in settings.allowed_domains}


def _name(claims: Mapping[str, Any], email: str) -> str:
    """What colleagues are shown, if nobody has it yet."""
    for said in (claims.get("name"), claims.get("preferred_username"), email.partition("@")[0]):
        if isinstance(said, str) and (shown := " ".join(said.split())) and printable(shown) == shown:
            return shown[:LONGEST_NAME]
    return "somebody"


def _role(settings: OidcSettings, claims: Mapping[str, Any]) -> Role | None:
    """The highest role that the claim says, the default one where it says none."""
    said = _claim(claims, settings.role_claim) if settings.role_claim else ()
    words = (said,) if isinstance(said, str) else said if isinstance(said, list | tuple) else ()
    known: Mapping[str, Role] = settings.roles or {role: role for role in ROLES}
    roles = [known[one] for one in words if isinstance(one, str) and one in known]
    if roles:
        return max(roles, key=ROLES.index)
    return None if settings.default_role == "none" else settings.default_role


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name, which may hold dots itself, else by its way through objects."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _args(app: App, account: Account) -> dict[str, Any]:
    return {"workspace": app.settings.workspace, "issuer": account.issuer, "subject": account.subject}
