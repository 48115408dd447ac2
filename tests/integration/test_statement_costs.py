"""What a statement costs does not follow from how much others have written, nor from how many other statements there are."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import psycopg
import pytest
from psycopg import AsyncPipeline

from deploy.local import Endpoints
from services.core.app import App
from services.core.db import Connection, Database, fetch_all, fetch_one
from services.core.db.pool import APP_ROLE, BIND, MOST_HELD
from services.learn_facts.load import SQL as LEARN_SQL
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.history import SQL as HISTORY_SQL
from tests.support.history import UNTIL

MAILS = 60
CALLS = "SELECT coalesce(pg_stat_get_xact_function_calls('public.unproven_turn(uuid)'::regprocedure), 0) AS n"
PLANS = "SELECT generic_plans + custom_plans AS n FROM pg_prepared_statements WHERE statement LIKE 'SELECT 0 AS asked%'"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    async with opened_brokerless(settings_for(stack, database, topic_prefix, tmp_path)) as one:
        yield one


@pytest.fixture
async def one_connection(database: str) -> AsyncIterator[Database]:
    """One connection for all."""
    one = Database(database, size=1)
    await one.open()
    yield one
    await one.close()


async def burst(conn: Connection, workspace: str) -> None:
    """What a first burst of mails leaves before Postgres has counted anything."""
    args = {"workspace": workspace, "done": 0, "mails": MAILS, "until": UNTIL}
    for part in ("people", "threads", "mails", "turns", "conversation", "deliveries"):
        await conn.execute(getattr(HISTORY_SQL, part), args)


async def test_learning_asked_of_every_reply_for_every_other_one(app: App) -> None:
    """Whether what a reply answered was proven is asked of the thread's replies alone, also where no table has statistics.

    A new deployment's first 300 mails at once made it 90,000 questions for one turn, which took 28 s.
    """
    workspace = app.settings.workspace
    async with app.database.reading() as conn, conn.transaction(force_rollback=True):
        await burst(conn, workspace)
        row = await fetch_one(conn, "SELECT thread_id, participant_id, mail_id FROM mails ORDER BY received_at LIMIT 1")
        assert row is not None
        await conn.execute("SET LOCAL track_functions = 'all'")
        await conn.execute(BIND, [workspace, APP_ROLE])
        asked = {**row, "workspace": workspace, "mail_ids": [row["mail_id"]]}
        found = await fetch_all(conn, LEARN_SQL.our_words, asked)
        calls = await fetch_one(conn, CALLS)
    assert len(found) == 2, "the thread has two replies"
    assert calls == {"n": 2}


async def test_a_hundred_statements_had_each_other_planned_again(one_connection: Database) -> None:
    """psycopg keeps a hundred prepared statements of a connection; a mail needs more, and each was planned each time."""
    async with one_connection.reading() as conn:
        for _ in range(4):
            for number in range(150):
                await conn.execute(f"SELECT {number} AS asked, %(n)s::int AS n".encode(), {"n": number})
        assert await fetch_one(conn, PLANS) == {"n": 3}, "not prepared when it was seen first"


async def test_each_statement_woke_the_server(one_connection: Database) -> None:
    """What nobody has asked the answer of is sent with the next question, in order, and takes its turn before it."""
    async with one_connection.transaction() as conn:
        await conn.execute("CREATE TEMP TABLE noted (n int)")
        for number in range(5):
            await conn.execute("INSERT INTO noted VALUES (%(n)s)", {"n": number})
        assert _held(conn) == 8, "BEGIN, five times the same, its preparation, and a table"
        assert await fetch_one(conn, "SELECT count(*) AS n FROM noted") == {"n": 5}
        assert _held(conn) == 0
        await conn.execute("INSERT INTO noted VALUES (5)")
    async with one_connection.transaction() as conn:
        assert await fetch_one(conn, "SELECT array_agg(n) AS all FROM noted") == {"all": [0, 1, 2, 3, 4, 5]}


async def test_what_waits_to_be_sent_is_bounded(one_connection: Database) -> None:
    """A unit that writes much and reads nothing does not gather all of it in memory."""
    async with one_connection.transaction() as conn:
        for _ in range(MOST_HELD + 1):
            await conn.execute("SELECT 1")
            assert _held(conn) < MOST_HELD


async def test_an_error_of_what_was_sent_later_is_raised(one_connection: Database) -> None:
    """By the next fetch, or at the end; then nothing of the transaction stands."""

    async def fail(fetches: bool) -> None:
        async with one_connection.transaction() as conn:
            await conn.execute("CREATE TABLE kept (n int)")
            await conn.execute("SELECT 1 / 0")
            if fetches:
                await fetch_one(conn, "SELECT 1")

    for fetches in (False, True):
        with pytest.raises(psycopg.errors.DivisionByZero):
            await fail(fetches)
    async with one_connection.reading() as conn:
        assert await fetch_one(conn, "SELECT to_regclass('kept') AS kept") == {"kept": None}


async def test_an_error_that_was_answered_before_all_was_sent_was_raised_as_what_came_of_it(
    one_connection: Database,
) -> None:
    """A name that is taken was said to be an aborted pipeline, where the server was quick: to be tried again."""

    async def fail() -> None:
        async with one_connection.transaction() as conn:
            await conn.execute("CREATE TEMP TABLE named (n int UNIQUE) ON COMMIT DROP")
            await conn.execute("INSERT INTO named VALUES (1), (1)")
            cast(AsyncPipeline, conn._pipeline).command_queue.append(lambda: time.sleep(0.2))

    with pytest.raises(psycopg.errors.UniqueViolation):
        await fail()
    async with one_connection.transaction() as conn:
        assert await fetch_one(conn, "SELECT 1 AS one") == {"one": 1}, "the connection serves the next one"


def _held(conn: Connection) -> int:
    """How many statements wait to be sent."""
    return len(cast(AsyncPipeline, conn._pipeline).command_queue)
