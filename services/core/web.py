"""The process's one web server: edges give routes, this serves them.

Every answer that is an error is JSON `{"error": code, "message": words}`. Signals belong to the process, not to
the server; it stops when it is told to, after the requests under way.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import structlog
import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from services.core.app import App
from services.core.bus.processor import Edge
from services.core.bus.retry import PASSING
from services.core.clock import pause
from services.core.errors import NotDoneYet, Permanent
from services.core.keys import Erased
from services.core.paging import BadCursor
from services.core.request_limits import Pace, PacedApp, UnreadBodyApp
from services.core.settings import WebSettings
from services.core.storable import PATTERN

log = structlog.get_logger(__name__)

RETRY_AFTER_S = 10
_NAME = re.compile(r"\{\w+")  # of a parameter in a path
GRACE_S = 20  # for requests under way when the server is told to stop


Application = Callable[..., Any]  # ASGI


class AddressTaken(Permanent):
    """The web server cannot listen on its address."""


class RequestRefused(Permanent):
    """A request is not granted: HTTP status, a code for programs, words for people, and what else they should see."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.more = more
        self.status = status
        self.code = code


def too_large(limit: int) -> RequestRefused:
    """The refusal of a body, or of what is in it, over the limit in bytes."""
    return RequestRefused(413, "too_large", f"at most {limit} bytes are taken")


async def body_within(request: Request, limit: int, deadline_s: float) -> bytes:
    """A request's body, within so many bytes and seconds. Raises `RequestRefused` before more of it is taken."""
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > limit:
        raise too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(deadline_s):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large(limit)
    except TimeoutError:
        raise RequestRefused(408, "too_slow", f"the body took longer than {deadline_s:g} s") from None
    return bytes(body)


def make_app(
    routers: Iterable[APIRouter] = (),
    *,
    calls: Iterable[APIRouter] = (),
    per_minute: int = 0,
    stopping: asyncio.Event | None = None,
) -> FastAPI:
    """The application: the given routes, `GET /healthz`, errors in words, at most so many requests of an address.

    `calls`: what other programs are called with, which the document names.

    An answer without an end ends when `app.state.stopping` is set: else the server would wait for it.
    """
    web_app = _Documented(title="Correspondent", docs_url=None, redoc_url=None)
    web_app.state.stopping = stopping or asyncio.Event()
    web_app.add_middleware(_FailedApp)
    if per_minute:
        web_app.add_middleware(PacedApp, pace=Pace(per_minute))
    web_app.add_middleware(UnreadBodyApp)
    web_app.add_exception_handler(RequestRefused, _refused)
    web_app.add_exception_handler(Erased, _erased)
    web_app.add_exception_handler(BadCursor, _bad_cursor)
    web_app.add_exception_handler(RequestValidationError, _invalid)
    web_app.add_exception_handler(HTTPException, _not_served)
    for passing in PASSING:  # a database that is away above all
        web_app.add_exception_handler(passing, _try_later)
    web_app.get("/healthz", include_in_schema=False)(_healthz)
    # As they are: FastAPI makes each route of an included router a second time.
    web_app.router.routes.extend(_closed([route for router in routers for route in router.routes]))
    for router in calls:
        web_app.webhooks.include_router(router)
    return web_app


def listen(web: WebSettings) -> socket.socket:
    """A socket bound to the settings' address. Raises `AddressTaken`."""
    try:
        return socket.create_server((web.host, web.port), backlog=512)
    except OSError as error:
        raise AddressTaken(
            f"cannot listen on {web.host} port {web.port}: {error.strerror}; set web.host and web.port"
        ) from error


async def serve(web_app: Application, listening: socket.socket, stop: asyncio.Event) -> None:
    """Serve `app` on a bound socket until `stop`."""
    config = uvicorn.Config(
        web_app,
        interface="asgi3",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
    )
    try:
        await _Server(config, stop).serve(sockets=[listening])
    finally:
        listening.close()


async def run_edges(app: App, edges: Sequence[Edge], stop: asyncio.Event) -> None:
    """Run edges in this process until `stop`, with one web server for those that have routes."""
    routers = [edge.routes(app) for edge in edges if edge.routes]
    listening = listen(app.settings.web) if routers else None
    async with asyncio.TaskGroup() as group:
        for edge in edges:
            group.create_task(edge.run(app, stop), name=edge.name)
        if listening:
            calls = [edge.calls() for edge in edges if edge.calls]
            per_minute = app.settings.web.requests_per_minute
            web_app = make_app(routers, calls=calls, per_minute=per_minute, stopping=stop)
            log.info("web server", host=app.settings.web.host, port=listening.getsockname()[1])
            group.create_task(serve(web_app, listening, stop), name="web")


class _Server(uvicorn.Server):
    """Sleeps between the seconds that the `Date` header counts; uvicorn's own looks around ten times in each."""

    def __init__(self, config: uvicorn.Config, stop: asyncio.Event) -> None:
        super().__init__(config)
        self._stop = stop

    async def main_loop(self) -> None:
        """Return when it is told to stop."""
        while not await self.on_tick(0):
            await pause(self._stop, 1.0)
            self.should_exit = self.should_exit or self._stop.is_set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _closed(routes: Sequence[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes, each path followed by what answers its other methods.

    Starlette would look on, and find a path with a parameter in this one's place, else name the methods of one route.
    """
    of_path: dict[str, list[Route]] = {}
    for route in routes:
        if isinstance(route, Route):
            of_path.setdefault(_NAME.sub("{", route.path), []).append(route)
    last = {id(same[-1]): {method for one in same for method in one.methods or ()} for same in of_path.values()}
    for route in routes:
        yield route
        if isinstance(route, Route) and (methods := last.get(id(route))):
            yield Route(route.path, _OtherMethods(methods), include_in_schema=False)


class _OtherMethods:
    """Refuses each method that a path does not have, and names those that it has (RFC 9110, 15.5.6)."""

    def __init__(self, methods: Iterable[str]) -> None:
        self._allowed = {"Allow": ", ".join(sorted(methods))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise HTTPException(405, headers=self._allowed)


class _Documented(FastAPI):
    """An application whose OpenAPI document says what holds for every text that a guarded route is asked with."""

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            _say_storable(super().openapi())
        return super().openapi()


def _say_storable(document: dict[str, Any]) -> None:
    """Have every text of a request say that it is one which a table can hold, unless its own pattern says so."""
    left: list[Any] = [
        one
        for path in document["paths"].values()
        for operation in path.values()
        for one in (*(given["schema"] for given in operation.get("parameters", ())), operation.get("requestBody"))
    ]
    seen: set[str] = set()
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            if one.get("type") == "string" and not {"pattern", "enum", "const", "format"} & one.keys():
                one["pattern"] = PATTERN
            if "$ref" in one and one["$ref"] not in seen:
                seen.add(one["$ref"])
                left.append(document["components"]["schemas"][one["$ref"].rpartition("/")[2]])
            left += one.values()


class _FailedApp:
    """Middleware that answers an error that nobody foresaw.

    Starlette's own handler for it stands outside of all middleware and raises the error again, at which the server
    cuts the connection under the client's next request. Only an answer that had begun is cut off.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            log.exception("request failed", path=scope["path"], error=repr(error))
            if begun:
                raise
            said = {"error": "failed", "message": "the fault is ours; send the same request again later"}
            await JSONResponse(said, 500)(scope, receive, send)


async def _healthz() -> dict[str, str]:
    return {"status": "ok"}


async def _bad_cursor(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": "bad_cursor", "message": str(error)}, 400)


async def _erased(request: Request, error: Exception) -> JSONResponse:
    """What was asked about went with an erase since it was read."""
    return JSONResponse({"error": "erased", "message": str(error)}, 404)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestRefused)
    log.warning("request refused", path=request.url.path, code=error.code, reason=str(error))
    return JSONResponse({"error": error.code, "message": str(error), **error.more}, error.status)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """What is wrong with a request, without repeating what was sent: that may be no text at all."""
    assert isinstance(error, RequestValidationError)
    wrong = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
    return JSONResponse({"error": "invalid", "message": wrong[:2000]}, 422)


async def _not_served(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return JSONResponse({"error": code, "message": error.detail}, error.status_code, headers=error.headers)


async def _try_later(request: Request, error: Exception) -> JSONResponse:
    log.warning("request postponed", path=request.url.path, error=repr(error))
    away = "something we need does not answer; send the same request again later"
    message = str(error) if isinstance(error, NotDoneYet) else away
    return JSONResponse({"error": "unavailable", "message": message}, 503, headers={"Retry-After": str(RETRY_AFTER_S)})
