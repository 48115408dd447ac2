"""What several handlers wait for at once is committed once, and is on disk when they go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from uuid import UUID, uuid4

import psycopg
import pytest

from services.core.bus.group_commit import SQL, GroupCommit
from services.core.db import Database, fetch_one

DAY = date(2026, 3, 2)
JOURNALED = (
    "SELECT count(*) AS events, count(DISTINCT xmin::text) AS commits FROM journal WHERE consumer = %(consumer)s"
)
LEFT = "SELECT count(*) AS n FROM outbox WHERE event_id = ANY(%(ids)s)"
WAITS = "INSERT INTO outbox (event_id, seq, source) SELECT unnest(%(ids)s::uuid[]), 1, 'somebody'"


@pytest.fixture
async def tables(database: str) -> AsyncIterator[Database]:
    """A migrated database."""
    one = Database(database, size=4)
    await one.open()
    yield one
    await one.close()


async def journaled(tables: Database, consumer: str) -> tuple[int, int]:
    """How many events the consumer has seen, in how many transactions."""
    async with tables.reading() as conn:
        row = await fetch_one(conn, JOURNALED, {"consumer": consumer})
    assert row is not None
    return row["events"], row["commits"]


async def test_each_event_with_nothing_to_do_was_a_commit_of_its_own(tables: Database) -> None:
    """Twelve of the events of one answered mail are such: many at once are one transaction, and one wait for the disk."""
    together = GroupCommit(tables)
    await asyncio.gather(*(together.pass_over("many", uuid4(), DAY) for _ in range(50)))
    assert await journaled(tables, "many") == (50, 1)


async def test_who_comes_alone_waits_for_nobody(tables: Database) -> None:
    """One after the other each is committed by itself; said twice it is one row."""
    together, id = GroupCommit(tables), uuid4()
    for one in (id, id, uuid4()):
        await together.pass_over("alone", one, DAY)
    assert await journaled(tables, "alone") == (2, 2)


async def test_acknowledged_events_leave_the_outbox_together(tables: Database) -> None:
    """With a batch of journal rows, which it does not matter to."""
    together, ids = GroupCommit(tables), [uuid4() for _ in range(4)]
    async with tables.transaction() as conn:
        await conn.execute(WAITS, {"ids": ids})
    await asyncio.gather(
        together.mark_published(ids[:2]), together.pass_over("beside", uuid4(), DAY), together.mark_published(ids[2:])
    )
    async with tables.reading() as conn:
        assert await fetch_one(conn, LEFT, {"ids": ids}) == {"n": 0}


async def test_a_unit_that_did_not_wait_was_taken_for_stored(tables: Database) -> None:
    """What was committed without waiting for the disk is there when `on_disk` returns, every time."""
    together = GroupCommit(tables)
    for _ in range(20):
        async with tables.transaction(to_disk=False) as conn:
            await conn.execute(WAITS, {"ids": [uuid4()]})
            place = await fetch_one(conn, "SELECT pg_current_wal_insert_lsn() AS lsn")
        assert place is not None
        await together.on_disk()
        async with tables.reading() as conn:
            written = await fetch_one(conn, "SELECT pg_current_wal_flush_lsn() >= %(lsn)s::pg_lsn AS done", dict(place))
        assert written == {"done": True}


async def test_only_a_transaction_that_may_did_not_wait(tables: Database) -> None:
    """The next one on the same connection waits for the disk again."""
    async with tables.transaction(to_disk=False) as conn:
        assert await setting(conn) == "off"
    async with tables.transaction() as conn:
        assert await setting(conn) == "on"


async def test_a_batch_that_fails_fails_all_who_wait_for_it(tables: Database) -> None:
    """Nothing of it stands, nobody is told that it does, and the next one goes on."""
    together, whole = GroupCommit(tables), uuid4()
    calls = [together.pass_over("failing", whole, DAY), together.pass_over("failing\0", uuid4(), DAY)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(one) for one in outcomes] == [psycopg.DataError, psycopg.DataError]
    assert await journaled(tables, "failing") == (0, 0)
    await together.pass_over("failing", whole, DAY)
    assert await journaled(tables, "failing") == (1, 1)


async def test_one_that_is_cancelled_took_the_others_with_it(tables: Database) -> None:
    """A handler whose time is over stops waiting; those beside it get their answer."""
    together = GroupCommit(tables)
    cut_off, *others = (asyncio.create_task(together.pass_over("cut", uuid4(), DAY)) for _ in range(3))
    await asyncio.sleep(0)
    cut_off.cancel()
    await asyncio.gather(*others)
    assert cut_off.cancelled()
    assert (await journaled(tables, "cut"))[0] == 3


async def test_two_processes_that_were_given_the_same_events_waited_for_each_other(tables: Database) -> None:
    """In whatever order they meet them: each row is there once, and no transaction was ended as a deadlock's victim."""
    first, second = GroupCommit(tables), GroupCommit(tables)
    for _ in range(10):
        ids: list[UUID] = [uuid4() for _ in range(200)]
        forth = [first.pass_over("both", one, DAY) for one in ids]
        back = [second.pass_over("both", one, DAY) for one in reversed(ids)]
        await asyncio.gather(*forth, *back)
    assert (await journaled(tables, "both"))[0] == 2000


async def test_writing_needs_no_right_of_its_own(tables: Database) -> None:
    """A user who may do no more than our transactions within a workspace may ask for the wait."""
    async with tables.transaction("main") as conn:
        await conn.execute(SQL.write)


async def setting(conn: psycopg.AsyncConnection[dict[str, object]]) -> object:
    """How this transaction ends."""
    row = await fetch_one(conn, "SELECT current_setting('synchronous_commit') AS it")
    assert row is not None
    return row["it"]
