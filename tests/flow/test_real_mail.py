"""Mail that other people wrote goes through the whole deployment, and none of it is lost.

Every third one of them; REAL_MAILS_EVERY=1 takes all.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.cli.mails import outcomes
from services.core.db import fetch_all
from services.core.settings import Settings
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.corpora import corpus

EVERY = int(os.environ.get("REAL_MAILS_EVERY", "3"))
MAILS = 300
UNPROVEN = 60  # mails that are read where nobody vouches for them


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_each_real_mail_ends_in_an_outcome_with_a_reason(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Every mail of the corpus that was let in has one outcome, with a reason, and no turn has failed."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await _read(settings, MAILS, EVERY)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_real_mail_that_nobody_vouches_for_gets_the_fixed_reply_or_a_person(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Old signatures no longer hold, so none is proven: nothing is silently set aside for it, and no model is asked."""
    inbox = {"name": "support", "address": "support@ourcompany.example", "replies_per_hour": 0}
    limits = {"unproven_per_hour": 1000}
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox], limits=limits)
    texts = await _read(settings, UNPROVEN)
    assert texts
    assert set(texts) == {settings.inboxes[0].unproven_reply}


async def _read(settings: Settings, count: int, every: int = 1) -> list[str]:
    """Let the first mails of the corpus in, and see that each has its outcome; the texts of the replies that were sent."""
    files = sorted(path for path in corpus("real-mail").rglob("*") if path.is_file())[:count:every]
    async with running_brokerless(settings) as app:
        for path in files:
            key = f"{path.parent.name}/{path.name}"
            await accept(app, settings.inboxes[0], path.read_bytes(), source="file", source_key=key)
        await until_idle(app, timeout_s=360)
        async with app.database.reading() as conn:
            rows = await outcomes(conn, settings.workspace, limit=1000)
            failed = await fetch_all(conn, "SELECT data FROM events WHERE type = 'turn.failed.v1'")
            turns = await fetch_all(
                conn, "SELECT turn_id, count(*) AS n FROM deliveries WHERE state = 'sent' GROUP BY 1"
            )
            said = await fetch_all(conn, "SELECT text FROM conversation WHERE role = 'agent'")
    counts = Counter(row["outcome"] for row in rows)
    print(counts)
    assert len(rows) == len(files)
    assert not [row for row in rows if not row["reason"]], "an outcome without a reason"
    assert not {"received", "waiting", "being answered", "failed"} & set(counts), (counts, failed)
    assert all(row["n"] == 1 for row in turns)
    return [row["text"] for row in said]
