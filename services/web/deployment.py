"""The deployment over HTTP: what waits and stands still, the settings in force without their secrets, replies on their
way out, events by id, and how far it is to a first answered mail.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from aiokafka.errors import KafkaError
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from services.core.app import App
from services.core.bus.publisher import LogUnavailable
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.deliveries import DeliveryLine, ledger
from services.operations.events import EventLine, find_events
from services.operations.first_steps import FirstSteps, first_steps
from services.operations.health.backlog import Waiting, read_backlog
from services.operations.health.state import read_health
from services.operations.progress import read_progress
from services.operations.settings_shown import InboxLines, SettingLine, changed_by, inboxes_shown, settings_shown

DeliveryState = Literal["", "draft", "approved", "sending", "sent", "unknown", "failed", "bounced", "discarded"]


class ShownSettings(BaseModel):
    """Every setting in force, and what is effective for each inbox.

    `version` counts the changes that are stored; `ignored` are stored values that do not count, each with the reason.
    """

    settings: list[SettingLine]
    inboxes: list[InboxLines]
    version: int
    ignored: dict[str, str]


class Status(BaseModel):
    """What stands still, in words, and what waits, with the command that shows it; `outbox_...` are stored events."""

    at: datetime
    problems: list[str]
    waiting: list[Waiting]
    outbox_waiting: int
    outbox_refused: int


def add_deployment(router: APIRouter, app: App) -> None:
    """Reading alone."""

    @router.get("/status")
    async def status() -> Status:
        """What the page *Pipeline* and `correspondent status` say of now. 503 where the broker does not answer."""
        try:
            progress = await read_progress(app)
            backlog, health = await read_backlog(app), await read_health(app, progress=progress)
        except (KafkaError, LogUnavailable, OSError, TimeoutError):
            raise RequestRefused(503, "broker_silent", "the broker does not answer") from None
        return Status(
            at=app.now(),
            problems=[said for _, said in health.problems()],
            waiting=list(backlog.waiting),
            outbox_waiting=health.outbox_waiting,
            outbox_refused=health.outbox_refused,
        )

    @router.get("/settings")
    async def settings() -> ShownSettings:
        """Each setting with its value and what said it. Secrets are not shown."""
        said = app.in_force
        return ShownSettings(
            settings=settings_shown(app.settings, changed=changed_by(said)),
            inboxes=inboxes_shown(app.settings),
            version=said.stored.version,
            ignored=dict(said.ignored),
        )

    @router.get("/first-steps")
    async def steps() -> FirstSteps:
        """How far the deployment is on the way to a first answered mail."""
        return await first_steps(app)

    @router.get("/events")
    async def events(
        request: Request,
        response: Response,
        q: Annotated[
            str, Query(max_length=320, description="an id of an event, correlation, thread or person; an address")
        ],
        limit: Limit = 50,
        after: After = "",
    ) -> list[EventLine]:
        """Events that have this id, followed from it or are about it, the newest first; not what they say."""
        return linked(request, response, await find_events(app, q, limit=limit, after=after))

    @router.get("/deliveries")
    async def deliveries(
        request: Request, response: Response, state: DeliveryState = "", limit: Limit = 50, after: After = ""
    ) -> list[DeliveryLine]:
        """Replies in a state ("" for all), the latest change first."""
        async with app.database.reading() as conn:
            page = await ledger(conn, app.settings.workspace, state, limit=limit, after=after)
        return linked(request, response, page)
