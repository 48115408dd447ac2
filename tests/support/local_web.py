"""What the web servers of tests share: where they listen, and how a code is bound to who asked for it (RFC 7636)."""

from __future__ import annotations

import base64
import hashlib

from aiohttp import web


async def started(app: web.Application) -> tuple[web.AppRunner, int]:
    """The app on a free port of this machine; its runner's `cleanup` ends it."""
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port: int = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    return runner, port


def base64url(raw: bytes) -> str:
    """Without padding, as tokens have it."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a PKCE verifier."""
    return base64url(hashlib.sha256(verifier.encode()).digest())
