"""A process whose start fails ends, so that its supervisor starts it again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from deploy.local import Endpoints
from deploy.local.ports import HOST, free_port
from services.core.app import open_app
from services.core.errors import Temporary
from tests.support.app import settings_for

OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.mark.timeout(120)
async def test_a_start_that_failed_left_its_connections_open_and_the_process_hung(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The database answers and the broker does not: nobody is connected afterwards, and no task goes on."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    away = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"brokers": f"{HOST}:{free_port()}"})})
    before = asyncio.all_tasks()
    with pytest.raises(Temporary):
        async with open_app(away):
            raise AssertionError("nobody answers at the broker's address")
    assert asyncio.all_tasks() == before
    with psycopg.connect(database, autocommit=True) as conn:
        async with asyncio.timeout(30):  # a closed connection leaves the view a moment later
            while conn.execute(OTHERS).fetchone() != (0,):
                await asyncio.sleep(0.05)
