"""What becomes of a transaction whose task is cancelled, wherever that hits it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from deploy.local import Endpoints
from services.core.db import Connection, Database, fetch_one
from tests.support.stack import fresh_database

COUNT = "SELECT count(*) AS n FROM noted"


@pytest.fixture
async def one_connection(stack: Endpoints) -> AsyncIterator[Database]:
    """A database with a table, and one connection for all."""
    with fresh_database(stack.database) as url:
        one = Database(url, size=1)
        await one.open()
        async with one.reading() as conn:
            await conn.execute("CREATE TABLE noted (n int)")
        yield one
        await one.close()


async def test_the_next_user_of_a_connection_found_a_transaction_open(one_connection: Database) -> None:
    """What a cancelled task was doing is rolled back, and its connection, whatever it is in, is nobody else's."""
    backends: list[int] = []

    async def cut_off() -> None:
        async with one_connection.transaction() as conn:
            backends.append(await _backend(conn))
            await fetch_one(conn, "INSERT INTO noted VALUES (1) RETURNING n")
            await fetch_one(conn, "SELECT pg_sleep(600)")

    task = asyncio.create_task(cut_off())
    while not backends:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with one_connection.transaction() as conn:
        assert await _backend(conn) not in backends
        assert await fetch_one(conn, COUNT) == {"n": 0}


async def _backend(conn: Connection) -> int:
    row = await fetch_one(conn, "SELECT pg_backend_pid() AS pid")
    assert row is not None
    return int(row["pid"])
