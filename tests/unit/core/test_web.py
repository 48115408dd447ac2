"""The process's one web server: errors in words, edges side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import psycopg
import pytest
from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from psycopg_pool import PoolTimeout

from services.core.app import App
from services.core.bus.processor import Edge
from services.core.errors import Temporary
from services.core.keys import Erased
from services.core.web import RequestRefused, make_app, run_edges

NO_HOUSE = cast(App, None)


async def answer_to(error: Exception) -> httpx.Response:
    """What the client sees when a route raises `error`."""
    router = APIRouter()

    @router.get("/")
    async def fail() -> None:
        raise error

    transport = httpx.ASGITransport(make_app([router]), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment") as client:
        return await client.get("/")


async def test_a_refusal_is_said_with_status_code_and_words() -> None:
    """A route's `Refused` is its answer."""
    answer = await answer_to(RequestRefused(409, "replayed", "used before"))
    assert (answer.status_code, answer.json()) == (409, {"error": "replayed", "message": "used before"})


async def test_what_went_with_an_erase_since_it_was_read_was_called_a_fault_of_ours() -> None:
    """Whoever decides on what they have read before is told that it is gone."""
    answer = await answer_to(Erased())
    assert (answer.status_code, answer.json()["error"]) == (404, "erased")


async def test_a_temporary_error_asks_to_come_again() -> None:
    """What may succeed later is 503 with Retry-After, without the inner reason."""
    answer = await answer_to(Temporary("postgresql://user:password@host is away"))
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert "password" not in answer.text


@pytest.mark.parametrize("error", [psycopg.OperationalError("host 10.0.0.7"), PoolTimeout("30 s"), TimeoutError()])
async def test_a_database_that_was_away_was_called_a_fault_of_ours(error: Exception) -> None:
    """Postgres comes back: the same request may succeed later."""
    answer = await answer_to(error)
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert "10.0.0.7" not in answer.text


async def test_any_other_error_is_ours_and_tells_nothing() -> None:
    """An unexpected error is 500 in JSON; what it says stays in the log."""
    answer = await answer_to(RuntimeError("secret detail"))
    assert (answer.status_code, answer.json()["error"]) == (500, "failed")
    assert "secret" not in answer.text


async def test_an_answer_that_had_begun_is_cut_off() -> None:
    """An error in the midst of an answer reaches the server, which ends the connection: half is not taken for whole."""
    router = APIRouter()

    async def halves() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("broken")

    @router.get("/")
    async def stream() -> StreamingResponse:
        return StreamingResponse(halves())

    async with httpx.AsyncClient(transport=httpx.ASGITransport(make_app([router])), base_url="http://x") as client:
        with pytest.raises(RuntimeError, match="broken"):
            await client.get("/")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/things/7", "DELETE, GET, PUT"),
        ("PUT", "/things/search", "GET"),
        ("OPTIONS", "/things/search", "GET"),
        ("DELETE", "/healthz", "GET"),
    ],
)
async def test_a_method_that_a_path_does_not_have_was_taken_for_another_path(
    method: str, path: str, allowed: str
) -> None:
    """It is 405 with every method of that path, however the routes of the others are written."""
    router = APIRouter()

    @router.get("/things/search")
    async def search() -> str:
        return "found"

    @router.get("/things/{id}")
    async def one(id: int) -> int:
        return id

    @router.put("/things/{number}")
    async def put(number: int) -> int:
        return number

    @router.delete("/things/{id}")
    async def delete(id: int) -> int:
        return id

    async with httpx.AsyncClient(transport=httpx.ASGITransport(make_app([router])), base_url="http://x") as client:
        answer = await client.request(method, path)
        assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")
        assert answer.headers["allow"] == allowed
        for verb in ("get", "put", "delete"):
            assert (await client.request(verb, "/things/7")).json() == 7
        assert (await client.get("/things/search")).json() == "found"


async def test_edges_run_until_told_to_stop() -> None:
    """All edges of a process work at once and end together; without routes no port is opened."""
    begun: list[str] = []

    def edge(name: str) -> Edge:
        async def run(app: Any, stop: asyncio.Event) -> None:
            begun.append(name)
            await stop.wait()

        return Edge(name, run)

    stop = asyncio.Event()
    work = asyncio.create_task(run_edges(NO_HOUSE, [edge("one"), edge("two")], stop))
    while len(begun) < 2:
        await asyncio.sleep(0)
    assert not work.done()
    stop.set()
    await asyncio.wait_for(work, 120)


async def test_an_edge_that_fails_ends_the_others() -> None:
    """A process whose edge broke does not live on half alive: the error comes out."""

    async def breaks(app: Any, stop: asyncio.Event) -> None:
        raise RuntimeError("broken")

    async def waits(app: Any, stop: asyncio.Event) -> None:
        await stop.wait()

    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="broken")):
        await run_edges(NO_HOUSE, [Edge("a", waits), Edge("b", breaks)], asyncio.Event())
