"""Rebuild: beside the live tables, compared, swapped in, and any past state left to be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from deploy.local import Endpoints
from services.cli import rebuild
from services.core.app import open_app, open_keys
from services.core.db import Connection, fetch_all, fetch_one
from services.core.settings import Settings
from services.operations import history_lock as alone
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.operations.rebuild import run
from services.operations.rebuild.projections import state_hash
from services.operations.rebuild.scopes import NAMES, NoSuchScope, scope
from services.operations.rebuild.shadow_schema import connected
from services.pipeline import NAMES as PROCESSORS
from services.process import working
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.letters import letter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
async def live(lived_in: Settings) -> AsyncIterator[Connection]:
    """A connection to its database."""
    async with open_keys(lived_in) as keys, connected(lived_in.database_url, keys) as conn:
        yield conn


def test_every_kind_of_aggregate_is_in_one_scope() -> None:
    """Threads, participants, documents and alerts together are all, and share nothing."""
    parts = [scope(name) for name in NAMES if name != "all"]
    whole = scope("all")
    assert sorted(kind for part in parts for kind in part.kinds) == list(whole.kinds)
    assert sorted(table for part in parts for table in part.tables) == list(whole.tables)


def test_an_unknown_scope_is_refused_by_name() -> None:
    """What cannot be rebuilt is said, with what can."""
    with pytest.raises(
        NoSuchScope, match="threads, participants, documents, alerts, approvals, incidents, outreach, webhooks, all"
    ):
        scope("mails")


@pytest.mark.parametrize("name", NAMES)
async def test_the_live_tables_are_a_fold_of_the_events(lived_in: Settings, name: str) -> None:
    """A check of each scope finds the same hash for every table and leaves no schema behind."""
    found = await run.check(lived_in, scope(name), lambda count: None)
    assert found.differences == ()
    assert found.events > 0
    async with open_keys(lived_in) as keys, connected(lived_in.database_url, keys) as conn:
        assert await _schemas(conn) == ["public"]


async def test_a_check_shows_the_first_rows_that_differ(lived_in: Settings, live: Connection) -> None:
    """A value that was changed by hand is found, on both sides, and a rebuild mends it."""
    before = await state_hash(live)
    await live.execute(
        "UPDATE participants SET name = 'Somebody Else' WHERE addr = (SELECT min(addr) FROM participants)"
    )
    found = await run.check(lived_in, scope("participants"), lambda count: None)
    (difference,) = found.differences
    assert difference.table == "participants"
    assert difference.live_only[0]["name"] == "Somebody Else"
    assert difference.folded_only[0]["addr"] == difference.live_only[0]["addr"]
    await run.swap(lived_in, scope("participants"), lambda count: None)
    assert await state_hash(live) == before


@pytest.mark.parametrize("name", NAMES)
async def test_a_swap_changes_no_state_and_keeps_indexes_constraints_and_vectors(
    lived_in: Settings, live: Connection, name: str
) -> None:
    """The tables that were swapped in are like the old ones in everything but their object id."""
    shape, hashes, vectors = await _shape(live), await state_hash(live), await _vectors(live)
    oids = await _oids(live)
    assert await run.swap(lived_in, scope(name), lambda count: None) > 0
    assert await _shape(live) == shape
    assert await state_hash(live) == hashes
    assert await _vectors(live) == vectors
    after = await _oids(live)
    assert {table for table in oids if oids[table] != after[table]} == set(scope(name).tables)


async def test_tables_that_were_lost_come_back(lived_in: Settings, live: Connection) -> None:
    """Every projection emptied, the versions too: the stored events give all of it back."""
    hashes = await state_hash(live)
    for table in ("aggregates", *scope("all").tables):
        await live.execute(f"TRUNCATE {table}")  # type: ignore[arg-type]
    await run.swap(lived_in, scope("all"), lambda count: None)
    assert await state_hash(live) == hashes


async def test_a_past_state_is_left_to_be_read(lived_in: Settings, live: Connection) -> None:
    """The schema of a time holds the mails of that time and no later ones; the live tables are not touched."""
    hashes = await state_hash(live)
    sixth = await fetch_one(live, "SELECT received_at AS at FROM mails ORDER BY received_at OFFSET 5 LIMIT 1")
    assert sixth is not None
    until = sixth["at"] + timedelta(seconds=1)
    await run.past(lived_in, scope("all"), until, "earlier", lambda count: None)
    try:
        counted = await fetch_one(live, "SELECT count(*) AS mails, max(received_at) AS last FROM earlier.mails")
        later = await fetch_one(
            live, "SELECT count(*) AS n FROM earlier.facts WHERE recorded_at > %(at)s", {"at": until}
        )
    finally:
        await live.execute("DROP SCHEMA earlier CASCADE")
    assert counted == {"mails": 6, "last": sixth["at"]}
    assert later == {"n": 0}
    assert await state_hash(live) == hashes


async def test_a_swap_whose_hold_was_lost_changes_nothing(
    lived_in: Settings, live: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hold goes with its connection: a rebuild that has lost it could bring back what was erased since."""
    carry, before = run._carry_vectors, await _oids(live)

    async def cut_off(*given: Any) -> None:
        await live.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            " AND (classid::bigint << 32 | objid::bigint) = hashtextextended(%(name)s, 0)"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            {"name": alone.NAME},
        )
        await carry(*given)

    monkeypatch.setattr(run, "_carry_vectors", cut_off)
    with pytest.raises(alone.HoldLost):
        await run.swap(lived_in, scope("all"), lambda count: None)
    assert await _oids(live) == before


def test_the_command_compares_and_swaps(lived_in: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rebuild --check` exits 0 on equal states; `rebuild threads` says which tables it swapped in."""
    monkeypatch.setattr("services.operations.deployment.settings_here", lambda home: lived_in)
    web_app = typer.Typer()
    web_app.command()(rebuild.rebuild)
    checked = CliRunner().invoke(web_app, ["--check"])
    assert checked.exit_code == 0, checked.output
    assert "the live tables are that state" in checked.output
    swapped = CliRunner().invoke(web_app, ["threads"])
    assert swapped.exit_code == 0, swapped.output
    assert "conversation" in swapped.output


async def test_a_swap_under_traffic_loses_and_stops_nothing(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Any
) -> None:
    """Rebuilt again and again while mail comes in: every mail is answered, and the tables are a fold afterwards."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app, working(app, PROCESSORS):
        feeding = asyncio.create_task(_feed(app))
        swaps = 0
        while not feeding.done() or swaps < 2:
            await run.swap(settings, scope("all"), lambda count: None)
            swaps += 1
        await feeding
        await until_idle(app, timeout_s=120)
        async with app.database.reading() as conn:
            sent = await fetch_one(conn, "SELECT count(*) AS n FROM turns WHERE outcome = 'sent'")
    found = await run.check(settings, scope("all"), lambda count: None)
    assert sent == {"n": 12}
    assert found.differences == ()


async def _feed(app: Any) -> None:
    for number in range(12):
        raw = letter(
            "Hello,\n\nwhat does the Team plan cost?\n\nAnn",
            sender=f"Ann <ann@customer{number}.example>",
            subject=f"Question {number}",
            message_id=f"<{number}@customer.example>",
        )
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
        await asyncio.sleep(0.3)


async def _schemas(conn: Connection) -> list[str]:
    rows = await fetch_all(
        conn,
        "SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1",
    )
    return [row["name"] for row in rows]


async def _shape(conn: Connection) -> list[dict[str, Any]]:
    return await fetch_all(
        conn,
        """
        SELECT 'index' AS what, indexname AS name, indexdef AS text FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL
        SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'column', table_name || '.' || column_name, data_type || coalesce(column_default, '')
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL
        SELECT 'policy', tablename || '.' || policyname, roles::text || qual FROM pg_policies WHERE schemaname = 'public'
        UNION ALL
        SELECT 'grant', table_name || '.' || privilege_type, grantee FROM information_schema.role_table_grants
        WHERE table_schema = 'public'
        UNION ALL
        SELECT 'comment', objoid::regclass || '.' || objsubid, description FROM pg_description
        WHERE classoid = 'pg_class'::regclass AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
        ORDER BY 1, 2, 3""",
    )


async def _vectors(conn: Connection) -> dict[str, Any] | None:
    return await fetch_one(
        conn,
        """SELECT (SELECT count(embedding) FROM facts) AS facts, (SELECT count(embedding) FROM chunks) AS chunks""",
    )


async def _oids(conn: Connection) -> dict[str, int]:
    rows = await fetch_all(
        conn, "SELECT relname, oid::bigint FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    )
    return {row["relname"]: row["oid"] for row in rows}
