"""What a killed replay or rebuild has left of people goes with the next replay or erase; what is at work stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import open_app
from services.core.db import Connection, fetch_all
from services.core.settings import Settings
from services.operations.erase.run import finish
from services.operations.rebuild.run import SCHEMA
from services.operations.rebuild.shadow_schema import connected, make
from services.operations.replay.leftovers import cache_of, files_of
from services.operations.replay.model import Asking
from services.operations.replay.sandbox import Sandbox, open_sandbox
from tests.support.app import settings_for
from tests.support.stack import fresh_database

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> Settings:
    return settings_for(stack, database, topic_prefix, tmp_path)


async def test_what_a_killed_replay_left_goes_with_the_next_replay_and_one_at_work_keeps_its_own(
    settings: Settings,
) -> None:
    """The killed one's schema, cached texts and files are gone; those of the other are there until it ends."""
    async with _killed(settings) as killed, _used(settings) as working, connected(settings.database_url) as conn:
        assert await _left(conn) == [working.name]
        assert await cache_of(settings, killed.name).get("brief") is None
        assert await cache_of(settings, working.name).get("brief") == "about Ada"
        assert not files_of(settings, killed.name).exists()
        assert any(files_of(settings, working.name).iterdir())
    async with connected(settings.database_url) as conn:
        assert await _left(conn) == []
    assert await cache_of(settings, working.name).get("brief") is None
    assert not files_of(settings, working.name).exists()


async def test_what_killed_replays_and_rebuilds_left_goes_with_the_next_erase(settings: Settings) -> None:
    """Whoever is erased next: nothing of anybody stays in a schema that nobody uses, nor beside it."""
    async with _killed(settings) as killed, connected(settings.database_url) as conn:
        await make(settings.database_url, SCHEMA)
        await conn.execute("CREATE SCHEMA replay_of_mine")
        assert await _left(conn) == [SCHEMA, killed.name, "replay_of_mine"]
        async with open_app(settings) as app:
            await finish(app, settings.workspace)
        assert await _left(conn) == ["replay_of_mine"]
        assert await cache_of(settings, killed.name).get("brief") is None
        assert not files_of(settings, killed.name).exists()


async def test_a_sandbox_stands_in_a_database_that_never_held_a_deployment(
    stack: Endpoints, settings: Settings
) -> None:
    """Saved cases are replayed where there is a server and nothing else; it is empty again afterwards."""
    with fresh_database(stack.database) as url:
        alone = settings.model_copy(update={"database_url": url})
        async with _used(alone) as sandbox, connected(url) as conn:
            assert await fetch_all(sandbox.tables, "SELECT * FROM events") == []
            assert await _left(conn) == [sandbox.name]
        async with connected(url) as conn:
            assert await _left(conn) == []
            assert (
                await fetch_all(conn, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace") == []
            )


@asynccontextmanager
async def _used(settings: Settings) -> AsyncIterator[Sandbox]:
    """A sandbox that has cached and stored something."""
    async with open_sandbox(settings, Asking()) as sandbox:
        await sandbox.app.cache.put("brief", "about Ada", seconds=300)
        await sandbox.app.blobs.put(b"what Ada attached")
        yield sandbox


@asynccontextmanager
async def _killed(settings: Settings) -> AsyncIterator[Sandbox]:
    """One whose process is gone: its connections are, and nothing was tidied up."""
    async with AsyncExitStack() as never_left:
        sandbox = await never_left.enter_async_context(_used(settings))
        async with connected(settings.database_url) as conn:
            await conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        yield sandbox


async def _left(conn: Connection) -> list[str]:
    names = "SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^(re)' ORDER BY 1"
    return [row["name"] for row in await fetch_all(conn, names)]
