"""Mail that other people wrote goes through the whole house, and none of it is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.db import fetch_all
from services.receive_email.accept import accept
from services.tools.settle import SQL, settle
from tests.support.corpora import corpus
from tests.support.house import running_house, settings_for

MAILS = 300


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_each_of_300_real_mails_ends_in_an_outcome_with_a_reason(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Every mail of the corpus that was let in has one outcome, with a reason, and no turn has failed."""
    files = sorted(path for path in corpus("real-mail").rglob("*") if path.is_file())[:MAILS]
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with running_house(settings) as house:
        for path in files:
            key = f"{path.parent.name}/{path.name}"
            await accept(house, settings.inboxes[0], path.read_bytes(), source="file", source_key=key)
        await settle(house, timeout_s=360)
        async with house.database.reading() as conn:
            args = {"workspace": settings.workspace, "thread_id": None, "limit": 1000}
            rows = await fetch_all(conn, SQL.outcomes, args)
            failed = await fetch_all(conn, "SELECT data FROM events WHERE type = 'turn.failed.v1'")
            turns = await fetch_all(
                conn, "SELECT turn_id, count(*) AS n FROM deliveries WHERE state = 'sent' GROUP BY 1"
            )
    counts = Counter(row["outcome"] for row in rows)
    print(counts)
    assert len(rows) == len(files)
    assert not [row for row in rows if not row["reason"]], "an outcome without a reason"
    assert not {"received", "waiting", "being answered", "failed"} & set(counts), (counts, failed)
    assert all(row["n"] == 1 for row in turns)
