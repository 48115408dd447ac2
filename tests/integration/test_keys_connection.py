"""The keys' own connection to Postgres, when that goes away and comes back."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import psycopg

from deploy.local import Endpoints
from services.core.app import open_keys
from tests.support.app import settings_for

END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


async def test_the_first_question_for_a_key_failed_after_the_database_had_been_away(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A connection that was lost since it was last used is made anew, and nobody notices."""
    async with open_keys(settings_for(stack, database, topic_prefix, tmp_path)) as keys:
        assert await keys.find([uuid4()]) == {}
        with psycopg.connect(database, autocommit=True) as conn:
            conn.execute(END_ALL)
        assert await keys.find([uuid4()]) == {}
