"""How many requests one caller may make, whatever they ask for. Counted in this process alone."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.core.clock import monotonic

WINDOW_S = 60.0
TOO_LARGE = 413
ONE_NETWORK = 64  # bits of an IPv6 address: who has one of them has all that begin alike (RFC 6177)
MOST_CALLERS = 10_000  # remembered at once; with more, the one seen longest ago begins again


@dataclass(frozen=True, slots=True)
class Linger:
    """How much of a body is read and thrown away after its answer, in bytes and seconds."""

    most_bytes: int
    most_s: float


LINGER = Linger(2**20, 2.0)
LINGER_TOO_LARGE = Linger(24 * 2**20, 10.0)  # whose sender was let in, and would send the same mail again and again


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


def network_of(scope: Scope) -> str:
    """What stands for whoever connects: an IPv4 address, or the network of an IPv6 one; "" where it is unknown."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), ONE_NETWORK), strict=False))


class PacedApp:
    """An application whose every route is within a pace per address: over it, 429 before anything is read."""

    def __init__(self, app: ASGIApp, pace: Pace) -> None:
        self._app, self._pace = app, pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        wait = self._pace.takes(network_of(scope)) if scope["type"] == "http" else 0
        if not wait:
            await self._app(scope, receive, send)
            return
        said = {"error": "too_many", "message": "too many requests from this address; send the same again later"}
        await JSONResponse(said, 429, headers={"Retry-After": str(int(wait) + 1)})(scope, receive, send)


class UnreadBodyApp:
    """Middleware that closes a connection whose request was answered before its body was read.

    Else the server would take the rest of the body, however long it is, to find the connection's next request. The
    answer goes first; then the client may send on for a while, since one that still sends when the connection closes
    is reset, and may never see the answer (RFC 9112, 9.6).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        body, status = _Body(receive, asked_for=not _expects_continue(scope)), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if body.unread:
                    message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            elif body.unread and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await body.throw_away(LINGER_TOO_LARGE if status == TOO_LARGE else LINGER)
                message = {"type": message["type"], "body": b""}
            await send(message)

        await self._app(scope, body.receive, sending)


class _Body:
    """A request's body as far as it was read. `asked_for`: the client sends it, or was told to."""

    def __init__(self, receive: Receive, *, asked_for: bool) -> None:
        self._receive, self._asked_for = receive, asked_for
        self.unread = True

    async def receive(self) -> Message:
        """The next part of it; the first one asked for has the server send `100 Continue`."""
        self._asked_for = True
        message = await self._receive()
        self.unread = self.unread and bool(message.get("more_body", False))
        return message

    async def throw_away(self, linger: Linger) -> None:
        """Read what still comes, within limits. Whoever waits for a `100 Continue` that never came sends nothing."""
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(linger.most_s):
                while self._asked_for and self.unread and taken < linger.most_bytes:
                    taken += len((await self.receive()).get("body", b""))


def _has_body(scope: Scope) -> bool:
    names = {name.lower(): value for name, value in scope["headers"]}
    return b"transfer-encoding" in names or names.get(b"content-length", b"0") != b"0"


def _expects_continue(scope: Scope) -> bool:
    return any(name.lower() == b"expect" and b"100-continue" in value.lower() for name, value in scope["headers"])
