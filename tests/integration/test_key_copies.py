"""Copies of the keys go when their time has come, and the newest one stays."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.clock import utc_now
from services.core.db import Connection
from services.core.settings import Settings
from services.operations.backup.keys import copies_left, keep_keys, master_beside
from services.operations.rebuild.shadow_schema import connected
from tests.support.app import settings_for


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> Settings:
    made = settings_for(stack, database, topic_prefix, tmp_path / "home")
    made.home.mkdir()
    (made.home / "master.key").write_text("0" * 64)
    return made


@pytest.fixture
async def conn(settings: Settings) -> AsyncIterator[Connection]:
    async with connected(settings.database_url) as one:
        yield one


async def test_a_copy_whose_time_has_come_goes_with_its_master_keys_once_there_is_a_newer_one(
    settings: Settings, conn: Connection, tmp_path: Path
) -> None:
    """The only copy stays beyond its day; the next back-up of keys has it deleted, and the others say when they go."""
    first, second, third = (tmp_path / "keys" / name for name in ("first", "second", "third"))
    await keep_keys(settings, first, days=0)
    assert [one.path for one in await copies_left(conn)] == [str(first)]
    await keep_keys(settings, second, days=14)
    assert [one.path for one in await copies_left(conn)] == [str(second)]
    assert (first.exists(), master_beside(first).exists(), master_beside(second).exists()) == (False, False, True)
    await keep_keys(settings, third, days=14)
    assert [one.path for one in await copies_left(conn)] == [str(third), str(second)]
    second.unlink()
    assert [one.path for one in await copies_left(conn)] == [str(third)]


async def test_a_file_that_somebody_else_wrote_there_since_is_left_alone(
    settings: Settings, conn: Connection, tmp_path: Path
) -> None:
    """What lies at the path now is newer than the copy was: it is forgotten here, and not deleted."""
    first, second = tmp_path / "first", tmp_path / "second"
    await keep_keys(settings, first, days=0)
    await keep_keys(settings, second, days=0)
    later = (utc_now() + timedelta(hours=1)).timestamp()
    os.utime(first, (later, later))
    assert [one.path for one in await copies_left(conn)] == [str(second)]
    assert first.exists()
