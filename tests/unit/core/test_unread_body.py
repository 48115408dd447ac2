"""A request that is answered before its body was read, on the real server."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from fastapi import APIRouter, Body, Request

from services.core import request_limits
from services.core.guarded_route import guarded
from services.core.request_limits import LINGER, Linger
from services.core.web import RequestRefused, make_app, serve

AS_X = "Authorization: Bearer x\r\n"
LIMIT = 100_000  # bytes of a body that is taken


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Where a server answers that lets nobody in without a token."""
    listening, stop = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
    serving = asyncio.create_task(serve(make_app([_guarded(), _failing()]), listening, stop))
    yield listening.getsockname()[1]
    stop.set()
    await serving


def _guarded() -> APIRouter:
    async def check(request: Request) -> None:
        if "authorization" not in request.headers:
            raise RequestRefused(401, "token_missing", "send a token")

    router = APIRouter(route_class=guarded(check, LIMIT))

    @router.post("/guarded")
    async def taken(text: str = Body()) -> int:
        return len(text)

    return router


def _failing() -> APIRouter:
    router = APIRouter()

    @router.api_route("/failing", methods=["GET", "POST"])
    async def failing() -> None:
        raise ZeroDivisionError

    return router


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/guarded", "/failing"])
async def test_the_server_took_64_mb_from_whoever_had_been_refused(port: int, path: str) -> None:
    """The connection is closed after the answer, and the body is not taken to its end."""
    assert await _pushed(port, path) < 32 * 2**20


@pytest.mark.parametrize(
    ("path", "head", "size", "status", "error"),
    [
        ("/guarded", "", 700_000, 401, "token_missing"),
        ("/guarded", AS_X, 700_000, 413, "too_large"),
        ("/guarded", AS_X, 20_000_000, 413, "too_large"),
        ("/failing", "", 700_000, 500, "failed"),
    ],
)
async def test_a_client_that_sent_its_whole_body_first_was_reset_before_it_saw_the_answer(
    port: int, path: str, head: str, size: int, status: int, error: str
) -> None:
    """It reads the whole answer and the end of the connection, whenever it begins to read."""
    answer = await asyncio.to_thread(_sent_first, port, path, head, size)
    first, _, body = answer.partition(b"\r\n\r\n")
    assert first.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"connection: close" in first.lower()
    assert json.loads(body)["error"] == error


async def test_who_asks_first_whether_to_send_is_answered_at_once(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that waits for `100 Continue` gets the refusal in its place, and nobody waits for its body."""
    monkeypatch.setattr(request_limits, "LINGER", Linger(LINGER.most_bytes, 3600.0))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /guarded HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 60)
    assert answer.startswith(b"HTTP/1.1 401 ")
    writer.close()


async def test_an_answer_does_not_wait_for_the_rest_of_a_body(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends on sees its refusal before it has sent all, and the connection ends with its body."""
    monkeypatch.setattr(request_limits, "LINGER", Linger(LINGER.most_bytes, 3600.0))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /guarded HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n[")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
    assert head.startswith(b"HTTP/1.1 401 ")
    writer.write(b"[" * 49)
    assert json.loads(await asyncio.wait_for(reader.read(), 60))["error"] == "token_missing"
    writer.close()


async def test_a_body_that_trickles_is_cut(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends a byte now and then is let do so for a moment, not for ever."""
    monkeypatch.setattr(request_limits, "LINGER", Linger(LINGER.most_bytes, 0.2))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /guarded HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")

    async def trickle() -> None:
        while True:
            writer.write(b"[")
            await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
    assert answer.startswith(b"HTTP/1.1 401 ")
    with suppress(ConnectionResetError):  # what trickles in after the end is answered by that
        await asyncio.wait_for(reader.read(), 60)
    trickling.cancel()
    writer.transport.abort()


async def test_a_request_that_was_read_keeps_its_connection(port: int) -> None:
    """Requests without a body, and one whose body was read, go over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"Host: x\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n"
    for request in (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /guarded HTTP/1.1\r\n" + head + b'"ab"') * 2:
        writer.write(request)
        answered = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        assert answered.startswith(b"HTTP/1.1 200")
        assert b"connection: close" not in answered
        length = int(answered.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await asyncio.wait_for(reader.readexactly(length), 30)
    writer.close()


async def test_an_error_that_nobody_foresaw_cut_the_connection_under_the_next_request(port: int) -> None:
    """A request without a body that was left unread keeps its connection, also where its answer is 500."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(2):
        writer.write(b"GET /failing HTTP/1.1\r\nHost: x\r\n\r\n")
        answered = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        assert answered.startswith(b"HTTP/1.1 500 ")
        assert b"connection: close" not in answered
        length = int(answered.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        assert json.loads(await asyncio.wait_for(reader.readexactly(length), 30))["error"] == "failed"
    writer.close()


def _sent_first(port: int, path: str, head: str, size: int) -> bytes:
    """What a client reads that sends everything before it looks."""
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{head}Content-Length: {size}\r\n\r\n".encode())
        client.sendall(b"[" * size)
        read = bytearray()
        while part := client.recv(65536):
            read += part
    return bytes(read)


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
