"""Endpoints as people see them, and what each was told lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from services.core.app import App
from services.core.db import queries, rows_as
from services.core.errors import Permanent
from services.core.paging import Listing, Page

SQL = queries(__file__)
DELIVERIES = Listing("webhook_deliveries", (("version", "number"),), descending=True)

State = Literal["enabled", "paused", "disabled"]


class EndpointUnknown(Permanent):
    """There is no such endpoint."""


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """One endpoint, without its secret. `disabled`: by itself, since it took nothing for days or is gone."""

    endpoint_id: UUID
    url: str
    description: str
    kinds: tuple[str, ...]
    with_text: bool
    state: State
    reason: str
    created_at: datetime
    created_by: str
    both_sign_until: datetime | None
    failing_since: datetime | None
    delivered_at: datetime | None
    waiting: int


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as the tables hold it: as people registered it, and how telling it goes."""

    endpoint_id: UUID
    url: str
    description: str
    kinds: list[str]
    with_text: bool
    created_at: datetime
    created_by: str
    enabled_at: datetime
    paused_at: datetime | None
    former_until: datetime | None
    failing_since: datetime | None
    delivered_at: datetime | None
    disabled_at: datetime | None
    disabled_why: str
    waiting: int


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """One webhook. `status` is the HTTP status of the last answer, 0 for none; `answer` how its body began."""

    webhook_id: UUID
    endpoint_id: UUID
    event_id: UUID
    kind: str
    thread_id: UUID | None
    state: Literal["waiting", "delivered", "failed"]
    attempt: int
    status: int
    detail: str
    answer: str
    queued_at: datetime
    changed_at: datetime
    due_at: datetime | None
    version: int


async def list_endpoints(app: App) -> list[EndpointLine]:
    """Every endpoint, the oldest first."""
    return await _lines(app, None)


async def endpoint_line(app: App, endpoint_id: UUID) -> EndpointLine:
    """One endpoint. Raises `EndpointUnknown`."""
    found = await _lines(app, endpoint_id)
    if not found:
        raise EndpointUnknown
    return found[0]


async def list_deliveries(app: App, endpoint_id: UUID, *, limit: int, after: str = "") -> Page[DeliveryLine]:
    """What an endpoint was told, the newest first. Raises `EndpointUnknown` or `BadCursor`."""
    await endpoint_line(app, endpoint_id)
    args = {"workspace": app.settings.workspace, "endpoint_id": endpoint_id} | DELIVERIES.args(after, limit)
    async with app.database.reading() as conn:
        return DELIVERIES.page(await rows_as(conn, DeliveryLine, SQL.deliveries, args), limit)


async def _lines(app: App, endpoint_id: UUID | None) -> list[EndpointLine]:
    args = {"workspace": app.settings.workspace, "endpoint_id": endpoint_id}
    async with app.database.reading() as conn:
        rows = await rows_as(conn, EndpointRow, SQL.endpoints, args)
    return [_line(row, app.now()) for row in rows]


def _line(row: EndpointRow, now: datetime) -> EndpointLine:
    disabled = row.disabled_at is not None and row.disabled_at > row.enabled_at
    return EndpointLine(
        endpoint_id=row.endpoint_id,
        url=row.url,
        description=row.description,
        kinds=tuple(row.kinds),
        with_text=row.with_text,
        state="disabled" if disabled else "paused" if row.paused_at else "enabled",
        reason=row.disabled_why if disabled else "",
        created_at=row.created_at,
        created_by=row.created_by,
        both_sign_until=row.former_until if row.former_until and row.former_until > now else None,
        failing_since=row.failing_since,
        delivered_at=row.delivered_at,
        waiting=row.waiting,
    )
