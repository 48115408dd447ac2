"""Endpoints of other programs, for admins: registered, changed, paused, tested; what each was told, and again."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from schemas.webhook_payloads import DATA, KINDS
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.requests import NotDecidedYet
from services.operations.webhooks.endpoints import (
    EndpointRefused,
    Made,
    Wanted,
    add_endpoint,
    change_endpoint,
    pause_endpoint,
    remove_endpoint,
    rotate_secret,
)
from services.operations.webhooks.listing import EndpointUnknown, endpoint_line, list_deliveries, list_endpoints
from services.operations.webhooks.requests import WebhookRefused, deliver_again, resume, send_test
from services.web.bodies import NewEndpoint
from services.web.console.forms import Form, checked
from services.web.console.language import Message, translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.refusals import WAIT_S

T = TypeVar("T")
LINES = 50  # webhooks of a page
ABOUT = {kind: Message((DATA[kind].__doc__ or "").partition("\n")[0]) for kind in KINDS}


def webhook_pages(site: Site) -> APIRouter:
    """The list, one of them, and what is done with it."""
    router = site.router(reads="admin", acts="admin")

    @router.get("/webhooks")
    async def endpoints(request: Request) -> HTMLResponse:
        return await _listed(site, request)

    @router.get("/webhooks/{endpoint_id}")
    async def endpoint(request: Request, endpoint_id: UUID, after: After = "") -> HTMLResponse:
        return await _shown(site, request, endpoint_id, after=after)

    _add_changes(router, site)
    _add_requests(router, site)
    return router


def _add_changes(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/webhooks")
    async def add(request: Request) -> Response:
        form = form_of(request)
        try:
            made = await add_endpoint(app, _wanted(form, viewer(request)), by=viewer(request))
        except (EndpointRefused, RequestRefused) as error:
            return await _listed(site, request, 422, wrong=str(error), kept=form)
        return await _shown(site, request, made.endpoint.endpoint_id, made=made)

    @router.post("/webhooks/{endpoint_id}")
    async def change(request: Request, endpoint_id: UUID) -> Response:
        form = form_of(request)
        try:
            wanted = _wanted(form, viewer(request))
            await _known(
                change_endpoint(
                    app,
                    endpoint_id,
                    url=wanted.url,
                    kinds=wanted.kinds,
                    description=wanted.description,
                    with_text=wanted.with_text,
                )
            )
        except (EndpointRefused, RequestRefused) as error:
            if getattr(error, "status", 422) != 422:
                raise
            return await _shown(site, request, endpoint_id, 422, wrong=str(error), kept=form)
        return done(f"/webhooks/{endpoint_id}", "endpoint_changed")

    @router.post("/webhooks/{endpoint_id}/pause")
    async def pause(request: Request, endpoint_id: UUID) -> Response:
        await _known(pause_endpoint(app, endpoint_id))
        return done(f"/webhooks/{endpoint_id}", "endpoint_paused")

    @router.post("/webhooks/{endpoint_id}/secret")
    async def rotate(request: Request, endpoint_id: UUID) -> Response:
        made = await _known(rotate_secret(app, endpoint_id))
        return await _shown(site, request, endpoint_id, made=made)

    @router.post("/webhooks/{endpoint_id}/remove")
    async def remove(request: Request, endpoint_id: UUID) -> Response:
        await _known(remove_endpoint(app, endpoint_id))
        return done("/webhooks", "endpoint_removed")


def _add_requests(router: APIRouter, site: Site) -> None:
    app = site.app

    @router.post("/webhooks/{endpoint_id}/resume")
    async def go_on(request: Request, endpoint_id: UUID) -> Response:
        try:
            await _known(resume(app, endpoint_id, by=viewer(request), timeout_s=WAIT_S))
        except NotDecidedYet:
            return done(f"/webhooks/{endpoint_id}", "pending")
        return done(f"/webhooks/{endpoint_id}", "endpoint_resumed")

    @router.post("/webhooks/{endpoint_id}/test")
    async def test(request: Request, endpoint_id: UUID) -> Response:
        sent = send_test(app, endpoint_id, by=viewer(request), timeout_s=WAIT_S)
        return await _told(endpoint_id, sent)

    @router.post("/webhooks/{endpoint_id}/deliveries/{webhook_id}/again")
    async def again(request: Request, endpoint_id: UUID, webhook_id: UUID) -> Response:
        sent = deliver_again(app, endpoint_id, webhook_id, by=viewer(request), timeout_s=WAIT_S)
        return await _told(endpoint_id, sent)


async def _told(endpoint_id: UUID, sent: Awaitable[Any]) -> Response:
    """Where the list says what came of it."""
    try:
        line = await _known(sent)
    except NotDecidedYet:
        return done(f"/webhooks/{endpoint_id}", "pending")
    what = {"delivered": "webhook_taken", "failed": "webhook_refused"}.get(line.state, "webhook_waits")
    return done(f"/webhooks/{endpoint_id}", what)


def _wanted(form: Form, by: str) -> Wanted:
    """What the form asks for. Raises `RequestRefused`."""
    kinds = tuple(one for one in KINDS if form.get(f"kind {one}"))
    if not kinds:
        raise RequestRefused(422, "invalid", translated("choose at least one type"))
    said = {"url": form.get("url", ""), "description": form.get("description", "")}
    body = checked(NewEndpoint, **said, kinds=kinds, with_text=bool(form.get("with_text")), by=by)
    return Wanted(body.url, body.kinds, body.description, body.with_text)


async def _listed(
    site: Site, request: Request, status: int = 200, *, wrong: str = "", kept: Form | None = None
) -> HTMLResponse:
    endpoints = await list_endpoints(site.app)
    about = {"endpoints": endpoints, "kinds": ABOUT, "wrong": wrong, "kept": kept}
    return site.page(request, "webhooks.html", status, **about)


async def _shown(
    site: Site,
    request: Request,
    endpoint_id: UUID,
    status: int = 200,
    *,
    after: str = "",
    wrong: str = "",
    kept: Form | None = None,
    made: Made | None = None,
) -> HTMLResponse:
    """One of them; `kept` is what was written for it in vain, `made` holds a secret that is shown now alone."""
    endpoint = await _known(endpoint_line(site.app, endpoint_id))
    rows = await _known(list_deliveries(site.app, endpoint_id, limit=LINES, after=after))
    about = {"endpoint": endpoint, "rows": rows, "after": after, "kinds": ABOUT}
    secret = made.secret if made else ""
    return site.page(request, "webhook.html", status, **about, wrong=wrong, kept=kept, secret=secret)


async def _known(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except EndpointUnknown:
        said = translated("There is no endpoint, or webhook, with this id.")
        raise RequestRefused(404, "endpoint_unknown", said) from None
    except WebhookRefused as error:
        raise RequestRefused(409, "endpoint_not_enabled", translated("Not done: %(reason)s.", reason=error)) from None
