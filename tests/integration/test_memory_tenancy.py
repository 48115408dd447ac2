"""Row-level security: a unit of work sees and writes the rows of its own workspace, whatever its SQL says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import AsyncConnection, errors, sql
from psycopg.rows import dict_row

from deploy.local import Endpoints
from services.core.clock import random_id
from services.core.db import Database, fetch_all
from services.core.db.migrate import migrate
from tests.support.stack import fresh_database

PARTICIPANT = (
    "INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)"
    " VALUES (%s, %s, 'ada@acme.example', 'Ada', 'unknown', now(), now())"
)
GUARDED = (
    "SELECT c.relname, c.relrowsecurity FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'workspace'"
    " ORDER BY 1"
)


@pytest.fixture
async def app(database: str) -> AsyncIterator[Database]:
    """A database with one participant in each of two workspaces."""
    one = Database(database, size=2)
    await one.open()
    for workspace in ("here", "there"):
        async with one.transaction(workspace) as conn:
            await conn.execute(PARTICIPANT, [random_id(), workspace])
    yield one
    await one.close()


async def test_every_table_with_a_workspace_is_guarded(app: Database) -> None:
    """A migration that makes such a table ends with `SELECT guard_workspaces()`."""
    async with app.reading() as conn:
        rows = await fetch_all(conn, GUARDED)
    assert len(rows) > 20
    assert [row["relname"] for row in rows if not row["relrowsecurity"]] == []


async def test_a_unit_of_work_reads_its_own_workspace_alone(app: Database) -> None:
    """A query without any condition finds the rows of the workspace that the transaction is bound to."""
    for workspace in ("here", "there", "nowhere"):
        async with app.transaction(workspace) as conn:
            rows = await fetch_all(conn, "SELECT workspace FROM participants")
        assert [row["workspace"] for row in rows] == ([workspace] if workspace != "nowhere" else [])


async def test_a_unit_of_work_writes_its_own_workspace_alone(app: Database) -> None:
    """An update of all rows changes the own ones; an insert into another workspace is refused."""
    async with app.transaction("here") as conn:
        await conn.execute("UPDATE participants SET name = 'Eve'")
        await conn.execute("DELETE FROM participants WHERE workspace = 'there'")
    with pytest.raises(errors.InsufficientPrivilege):
        async with app.transaction("here") as conn:
            await conn.execute(PARTICIPANT, [random_id(), "there"])
    async with app.reading() as conn:
        rows = await fetch_all(conn, "SELECT workspace, name FROM participants ORDER BY workspace")
    assert [(row["workspace"], row["name"]) for row in rows] == [("here", "Eve"), ("there", "Ada")]


async def test_the_binding_ends_with_the_transaction(app: Database) -> None:
    """A connection that goes back to the pool is bound to nothing: the next transaction binds itself."""
    async with app.transaction("here"):
        pass
    async with app.reading() as conn:
        (row,) = await fetch_all(conn, "SELECT current_setting('app.workspace', true) AS bound, current_user AS who")
    assert row["bound"] in (None, "")
    assert row["who"] != "correspondent_app"


async def test_the_role_without_a_workspace_sees_nothing(app: Database, database: str) -> None:
    """Forgetting to bind shows no row at all."""
    async with await AsyncConnection.connect(database, autocommit=True, row_factory=dict_row) as conn:
        await conn.execute("SET ROLE correspondent_app")
        assert await fetch_all(conn, "SELECT 1 AS one FROM participants") == []
        assert await fetch_all(conn, "SELECT 1 AS one FROM facts") == []


async def test_a_plain_owner_who_is_no_superuser_migrates_and_is_bound(stack: Endpoints, app: Database) -> None:
    """The user of a managed Postgres, prepared by its administrator, makes the tables and keeps workspaces apart."""
    with fresh_database(stack.database) as url:
        with psycopg.connect(url, autocommit=True) as admin:
            role = f"owner_{random_id().hex}"
            owner, name = sql.Identifier(role), sql.Identifier(urlsplit(url).path.strip("/"))
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain'").format(owner))
            admin.execute(sql.SQL("GRANT correspondent_app TO {}").format(owner))
            admin.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, owner))
            admin.execute("CREATE EXTENSION vector")
        parts = urlsplit(url)
        plain = parts._replace(netloc=f"{role}:plain@{parts.netloc.rpartition('@')[2]}")
        migrate(plain.geturl())
        one = Database(plain.geturl(), size=1)
        await one.open()
        for workspace in ("here", "there"):
            async with one.transaction(workspace) as conn:
                await conn.execute(PARTICIPANT, [random_id(), workspace])
                rows = await fetch_all(conn, "SELECT workspace FROM participants")
            assert [row["workspace"] for row in rows] == [workspace]
        await one.close()
