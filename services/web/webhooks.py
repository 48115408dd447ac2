"""Endpoints of other programs over HTTP: registered, changed, tested, with what each was told; and that documented."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Literal, TypeVar
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, create_model

from schemas.webhook_payloads import DATA, KINDS
from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.webhooks.endpoints import (
    EndpointRefused,
    Wanted,
    add_endpoint,
    change_endpoint,
    pause_endpoint,
    remove_endpoint,
    rotate_secret,
)
from services.operations.webhooks.listing import (
    DeliveryLine,
    EndpointLine,
    EndpointUnknown,
    endpoint_line,
    list_deliveries,
    list_endpoints,
)
from services.operations.webhooks.requests import WebhookRefused, deliver_again, resume, send_test
from services.web.bodies import Asked, EndpointChange, NewEndpoint
from services.web.caller import name_of_caller
from services.web.refusals import WAIT_S

T = TypeVar("T")


class EndpointWithSecret(BaseModel):
    """An endpoint with its secret, which is in this answer alone."""

    endpoint: EndpointLine
    secret: str = Field(description="verify each webhook with it: whsec_ and base64")


class KindLine(BaseModel):
    """A public type, and the JSON Schema of its `data`."""

    kind: str
    about: str
    data: dict[str, Any]


def add_webhooks(router: APIRouter, app: App) -> None:
    """Reading and changing them."""
    _add_reads(router, app)
    _add_changes(router, app)
    _add_requests(router, app)


def _add_reads(router: APIRouter, app: App) -> None:
    @router.get("/webhooks")
    async def listed() -> list[EndpointLine]:
        """Every endpoint, the oldest first."""
        return await list_endpoints(app)

    @router.get("/webhooks/types")
    async def types() -> list[KindLine]:
        """What endpoints can be told of."""
        return [KindLine(kind=one, about=_about(one), data=DATA[one].model_json_schema()) for one in KINDS]

    @router.get("/webhooks/{endpoint_id}")
    async def one(endpoint_id: UUID) -> EndpointLine:
        """One endpoint."""
        return await _known(endpoint_line(app, endpoint_id))

    @router.get("/webhooks/{endpoint_id}/deliveries")
    async def deliveries(
        request: Request, response: Response, endpoint_id: UUID, limit: Limit = 50, after: After = ""
    ) -> list[DeliveryLine]:
        """What it was told, the newest first, with its answers."""
        page = await _known(list_deliveries(app, endpoint_id, limit=limit, after=after))
        return linked(request, response, page)


def _add_changes(router: APIRouter, app: App) -> None:
    @router.post("/webhooks", status_code=201)
    async def add(body: NewEndpoint) -> EndpointWithSecret:
        """Register an endpoint. The secret is in this answer alone."""
        wanted = Wanted(body.url, body.kinds, body.description, body.with_text)
        made = await _known(add_endpoint(app, wanted, by=body.by))
        return EndpointWithSecret(endpoint=made.endpoint, secret=made.secret)

    @router.patch("/webhooks/{endpoint_id}")
    async def change(endpoint_id: UUID, body: EndpointChange) -> EndpointLine:
        """Change an endpoint, pause it, or enable it again."""
        said = body.model_dump(exclude={"paused", "by"}, exclude_none=True)
        line = await _known(change_endpoint(app, endpoint_id, **said) if said else endpoint_line(app, endpoint_id))
        if body.paused:
            line = await _known(pause_endpoint(app, endpoint_id))
        elif body.paused is False and line.state != "enabled":
            line = await _known(resume(app, endpoint_id, by=body.by, timeout_s=WAIT_S))
        return line

    @router.delete("/webhooks/{endpoint_id}", status_code=204)
    async def remove(endpoint_id: UUID) -> None:
        """Remove an endpoint; its secret is forgotten."""
        await _known(remove_endpoint(app, endpoint_id))

    @router.post("/webhooks/{endpoint_id}/secret")
    async def rotate(endpoint_id: UUID) -> EndpointWithSecret:
        """A new secret; for a day the one before signs, too."""
        made = await _known(rotate_secret(app, endpoint_id))
        return EndpointWithSecret(endpoint=made.endpoint, secret=made.secret)


def _add_requests(router: APIRouter, app: App) -> None:
    @router.post("/webhooks/{endpoint_id}/test")
    async def test(endpoint_id: UUID, body: Asked | None = None) -> DeliveryLine:
        """Send a test; what came of it, or `waiting` where that takes longer than this request."""
        return await _known(send_test(app, endpoint_id, by=_by(body), timeout_s=WAIT_S))

    @router.post("/webhooks/{endpoint_id}/deliveries/{webhook_id}/again")
    async def again(endpoint_id: UUID, webhook_id: UUID, body: Asked | None = None) -> DeliveryLine:
        """Deliver a webhook again, under the same `webhook-id`."""
        return await _known(deliver_again(app, endpoint_id, webhook_id, by=_by(body), timeout_s=WAIT_S))


def documented() -> APIRouter:
    """What endpoints are told, for the OpenAPI document; these are no routes of ours."""
    router = APIRouter()
    for kind in KINDS:
        _document(router, kind)
    return router


def _document(router: APIRouter, kind: str) -> None:
    fields: dict[str, Any] = {
        "type": (Literal[kind], ...),
        "timestamp": (str, Field(description="when it happened: ISO 8601")),
        "data": (DATA[kind], ...),
    }
    said = create_model("".join(one.capitalize() for one in kind.replace("_", ".").split(".")) + "Webhook", **fields)

    async def told(body: Any) -> None:
        pass

    told.__annotations__["body"] = said
    router.post(kind, summary=kind, description=_about(kind), tags=["webhooks"], name=kind)(told)


def _about(kind: str) -> str:
    return (DATA[kind].__doc__ or "").strip()


def _by(body: Asked | None) -> str:
    return body.by if body else name_of_caller()


async def _known(done: Awaitable[T]) -> T:
    """What came of it; a refusal in words."""
    try:
        return await done
    except EndpointUnknown as error:
        raise RequestRefused(404, "endpoint_unknown", str(error)) from None
    except EndpointRefused as error:
        raise RequestRefused(422, "endpoint_refused", str(error)) from None
    except WebhookRefused as error:
        raise RequestRefused(409, "endpoint_not_enabled", str(error)) from None
