"""Registers endpoints: where they are, what they are told of, whether they are told what people wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx

from schemas.webhook_payloads import KINDS
from services.core.app import App
from services.core.clock import random_bytes, random_id
from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.core.printable import printable
from services.core.public_hosts import HostRefused, pinned, plain_client
from services.core.standard_webhooks import secret_of
from services.operations.webhooks.listing import EndpointLine, EndpointUnknown, endpoint_line
from services.send_webhooks.endpoints import sealed_secret

SQL = queries(__file__)
MOST = 50  # endpoints of a workspace
LONGEST_URL, LONGEST_DESCRIPTION = 2000, 200
SECRET_BYTES = 32
BOTH_SIGN_FOR = timedelta(days=1)


class EndpointRefused(Permanent):
    """An endpoint cannot be registered or changed so."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an endpoint is to be. No kinds: all of them."""

    url: str
    kinds: tuple[str, ...] = ()
    description: str = ""
    with_text: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """An endpoint with its secret, which is shown this once."""

    endpoint: EndpointLine
    secret: str


async def add_endpoint(app: App, wanted: Wanted, *, by: str) -> Made:
    """Register an endpoint; what happens from now on is told there. Raises `EndpointRefused`."""
    checked = await _checked(app, wanted)
    id, secret = random_id(), _new_secret()
    async with app.database.transaction(app.settings.workspace) as conn:
        await conn.execute(SQL.lock)
        count = await fetch_one(conn, SQL.count, {"workspace": app.settings.workspace})
        if count and count["n"] >= MOST:
            raise EndpointRefused(f"there are {MOST} endpoints, which is the most: remove one first")
        row = _args(app, id) | _fields(checked) | {"secret": sealed_secret(app, id, secret), "by": by}
        await conn.execute(SQL.add, row)
    return Made(await endpoint_line(app, id), secret)


async def change_endpoint(app: App, endpoint_id: UUID, **changes: Any) -> EndpointLine:
    """Change some of `url`, `kinds`, `description`, `with_text`. Raises `EndpointRefused` or `EndpointUnknown`."""
    now = await endpoint_line(app, endpoint_id)
    before = Wanted(now.url, now.kinds, now.description, now.with_text)
    checked = await _checked(app, replace(before, **changes), known=before.url)
    return await _done(app, SQL.change, _args(app, endpoint_id) | _fields(checked))


async def pause_endpoint(app: App, endpoint_id: UUID) -> EndpointLine:
    """Tell it nothing from now on; what waits for it goes on waiting. Raises `EndpointUnknown`."""
    return await _done(app, SQL.pause, _args(app, endpoint_id))


async def enable_endpoint(app: App, endpoint_id: UUID) -> EndpointLine:
    """Tell it again, whoever stopped that; of what happened meanwhile it is told nothing. Raises `EndpointUnknown`."""
    return await _done(app, SQL.enable, _args(app, endpoint_id))


async def remove_endpoint(app: App, endpoint_id: UUID) -> None:
    """Tell it nothing more, and forget its secrets. Raises `EndpointUnknown`."""
    await endpoint_line(app, endpoint_id)
    async with app.database.transaction(app.settings.workspace) as conn:
        await conn.execute(SQL.remove, _args(app, endpoint_id))


async def rotate_secret(app: App, endpoint_id: UUID) -> Made:
    """Make a new secret; for a day the one before signs as well. Raises `EndpointUnknown`."""
    secret = _new_secret()
    sealed = {"secret": sealed_secret(app, endpoint_id, secret), "until": app.now() + BOTH_SIGN_FOR}
    return Made(await _done(app, SQL.rotate, _args(app, endpoint_id) | sealed), secret)


async def _done(app: App, statement: Any, args: dict[str, Any]) -> EndpointLine:
    async with app.database.transaction(app.settings.workspace) as conn:
        if await fetch_one(conn, statement, args) is None:
            raise EndpointUnknown
    return await endpoint_line(app, args["endpoint_id"])


async def _checked(app: App, wanted: Wanted, known: str | None = None) -> Wanted:
    """What is wanted, in one form. A new address is looked up, and not called. Raises `EndpointRefused`."""
    unknown = [one for one in wanted.kinds if one not in KINDS]
    if unknown:
        raise EndpointRefused(f"{unknown[0][:60]!r} is no type; there are: {', '.join(KINDS)}")
    description = " ".join(wanted.description.split())
    if len(description) > LONGEST_DESCRIPTION or printable(description) != description:
        raise EndpointRefused(f"a description is at most {LONGEST_DESCRIPTION} characters that can be seen")
    if wanted.url != known:
        await _check_url(app, wanted.url)
    chosen = tuple(one for one in KINDS if one in wanted.kinds) or KINDS
    return replace(wanted, kinds=chosen, description=description)


async def _check_url(app: App, url: str) -> None:
    """Raises `EndpointRefused` for what is no plain web address, or leads where nothing may be sent."""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise EndpointRefused(f"an address is at most {LONGEST_URL} characters of ASCII, without spaces")
    allowed = app.settings.outgoing_webhooks.private_hosts
    if urlsplit(url).scheme != "https" and not allowed:
        raise EndpointRefused("an address begins with https://; outgoing_webhooks.private_hosts allows http")
    place: dict[str, Any] = {"private": "outgoing_webhooks.private_hosts", "allowed": allowed}
    try:
        async with plain_client(app.settings.outgoing_webhooks.timeout_s) as client:
            await pinned(client, "POST", httpx.URL(url), headers={}, **place)
    except (HostRefused, httpx.InvalidURL, ValueError) as error:
        raise EndpointRefused(f"this address cannot be used: {error}") from None


def _new_secret() -> str:
    return secret_of(random_bytes(SECRET_BYTES))


def _fields(wanted: Wanted) -> dict[str, Any]:
    return {
        "url": wanted.url,
        "kinds": list(wanted.kinds),
        "description": wanted.description,
        "with_text": wanted.with_text,
    }


def _args(app: App, endpoint_id: UUID) -> dict[str, Any]:
    return {"workspace": app.settings.workspace, "endpoint_id": endpoint_id, "now": app.now()}
