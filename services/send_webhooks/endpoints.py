"""Endpoints as operators registered them, and the secrets that their webhooks are signed with.

A secret is stored sealed with the secret of the deployment (`secret`; former ones still open it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from services.core.app import App
from services.core.db import Connection, queries, row_as, rows_as
from services.core.errors import Permanent
from services.core.keys import NotAuthentic
from services.core.keys.aead import seal, unseal

SQL = queries(__file__)


class SecretLost(Permanent):
    """The secret cannot be opened: it was sealed with another secret of the deployment. Rotate it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint. `disabled_at` is when it was disabled by itself, before or after it was enabled last."""

    endpoint_id: UUID
    url: str
    kinds: tuple[str, ...]
    with_text: bool
    secret: bytes | None = field(repr=False)
    former_secret: bytes | None = field(repr=False)
    former_until: datetime | None
    created_at: datetime
    enabled_at: datetime
    paused_at: datetime | None
    failing_since: datetime | None
    disabled_at: datetime | None

    @property
    def is_told(self) -> bool:
        """Whether it is told of what happens: neither paused nor disabled."""
        return self.paused_at is None and not self.is_disabled

    @property
    def is_disabled(self) -> bool:
        """Whether it was disabled by itself since a person enabled it last."""
        return self.disabled_at is not None and self.disabled_at > self.enabled_at

    @property
    def host(self) -> str:
        """What people see of it in alerts: its path may be a secret."""
        return urlsplit(self.url).hostname or ""

    @property
    def timer_id(self) -> UUID:
        """The one timer of the endpoint."""
        return uuid5(self.endpoint_id, "webhook")


async def endpoints_for(conn: Connection, workspace: str, kind: str) -> list[Endpoint]:
    """The endpoints that are told of a public type, in an order in which all processes lock them."""
    found = await rows_as(conn, Endpoint, SQL.endpoints_for, {"workspace": workspace, "kind": kind})
    return [one for one in found if one.is_told]


async def endpoint_of(conn: Connection, workspace: str, endpoint_id: UUID) -> Endpoint | None:
    """One endpoint, unless it was removed."""
    return await row_as(conn, Endpoint, SQL.endpoint, {"workspace": workspace, "endpoint_id": endpoint_id})


def secrets_of(app: App, endpoint: Endpoint, now: datetime) -> list[str]:
    """The secrets that its webhooks are signed with now, the newest first. Raises `SecretLost`."""
    sealed = [endpoint.secret]
    if endpoint.former_until is not None and now < endpoint.former_until:
        sealed.append(endpoint.former_secret)
    return [_opened(app, endpoint.endpoint_id, one) for one in sealed if one is not None]


def sealed_secret(app: App, endpoint_id: UUID, secret: str) -> bytes:
    """The secret as it is stored."""
    return seal(next(_sealing(app)), secret.encode(), endpoint_id.bytes)


def _opened(app: App, endpoint_id: UUID, box: bytes) -> str:
    for key in _sealing(app):
        try:
            return unseal(key, bytes(box), endpoint_id.bytes).decode()
        except NotAuthentic:
            continue
    raise SecretLost


def _sealing(app: App) -> Iterator[bytes]:
    former = (one.get_secret_value().encode() for one in app.settings.former_secrets)
    return (hashlib.sha256(b"webhook secret\0" + one).digest() for one in (app.secret, *former))
