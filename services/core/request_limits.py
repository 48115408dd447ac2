"""How many requests one caller may make, whatever they ask for. Counted in this process alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.core.clock import monotonic

WINDOW_S = 60.0
TOO_LARGE = 413
LINGER_BYTES, LINGER_S = 24 * 2**20, 10.0  # of a body that is too large, read and thrown away
MOST_CALLERS = 10_000  # remembered at once; with more, the one seen longest ago begins again


@dataclass(slots=True)
class Pace:
    """A bucket of `per_minute` requests for each caller, which fills evenly; 0: no limit."""

    per_minute: int
    now: Callable[[], float] = monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def takes(self, caller: str) -> float:
        """0 where a request is within the limit, else in how many seconds the next one is."""
        if not self.per_minute:
            return 0
        now, most = self.now(), float(self.per_minute)
        left, since = self._left.pop(caller, (most, now))
        left = min(most, left + (now - since) * most / WINDOW_S)
        granted = left >= 1
        self._left[caller] = (left - granted, now)
        while len(self._left) > MOST_CALLERS:
            del self._left[next(iter(self._left))]
        return 0 if granted else (1 - left) * WINDOW_S / most


class PacedApp:
    """An application whose every route is within a pace per address: over it, 429 before anything is read."""

    def __init__(self, app: ASGIApp, pace: Pace) -> None:
        self._app, self._pace = app, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        wait = self._pace.takes((scope.get("client") or ("",))[0]) if scope["type"] == "http" else 0
        if not wait:
            await self._app(scope, receive, send)
            return
        said = {"error": "too_many", "message": "too many requests from this address; send the same again later"}
        await JSONResponse(said, 429, headers={"Retry-After": str(int(wait) + 1)})(scope, receive, send)


class UnreadBodyApp:
    """Middleware that closes a connection whose request was answered before its body was read.

    Else the server would take the rest of the body, however long it is, to find the connection's next request. Whose
    body is too large (413) is let send on for a while: a client that still sends when the connection closes would not
    see the answer that says so (RFC 9112, 9.6).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        names = {name.lower(): value for name, value in scope["headers"]}
        unread = b"transfer-encoding" in names or names.get(b"content-length", b"0") != b"0"

        async def receiving() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and bool(message.get("more_body", False))
            return message

        async def let_send() -> None:
            taken = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    while unread and taken < LINGER_BYTES:
                        taken += len((await receiving()).get("body", b""))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == TOO_LARGE:
                    await let_send()
                if unread:
                    message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receiving, sending)
