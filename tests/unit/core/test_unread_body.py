"""A request that is answered before its body was read, on the real server."""

from __future__ import annotations

import asyncio
import socket

import pytest

from services.core.web import make_app, serve


@pytest.mark.parametrize("path", ["/healthz", "/nowhere"])
async def test_the_server_took_64_mb_from_whoever_had_been_refused(path: str) -> None:
    """The connection is closed with the answer, and the body is not taken to its end."""
    listening, stop = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
    port = listening.getsockname()[1]
    serving = asyncio.create_task(serve(make_app(), listening, stop))
    try:
        taken = await _pushed(port, path)
    finally:
        stop.set()
        await serving
    assert taken < 32 * 2**20


async def test_a_request_that_was_read_keeps_its_connection() -> None:
    """Two requests without a body go over one connection."""
    listening, stop = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
    port = listening.getsockname()[1]
    serving = asyncio.create_task(serve(make_app(), listening, stop))
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
            assert head.startswith(b"HTTP/1.1 200")
            assert b"connection: close" not in head
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await asyncio.wait_for(reader.readexactly(length), 30)
        writer.close()
    finally:
        stop.set()
        await serving


async def _pushed(port: int, path: str) -> int:
    """How many bytes of a body without end were taken."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    taken = 0
    try:
        while taken < 64 * 2**20:
            writer.write(b"10000\r\n" + b"[" * 0x10000 + b"\r\n")
            await asyncio.wait_for(writer.drain(), 10)
            taken += 0x10000
    except (OSError, TimeoutError):
        pass  # it was closed
    finally:
        writer.transport.abort()
    return taken
