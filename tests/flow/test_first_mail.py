"""The main job: a mail comes in, a reply that remembers goes out."""

from __future__ import annotations

from email import message_from_bytes, policy
from pathlib import Path

from deploy.local import Endpoints
from services.core.db import fetch_all
from services.receive_email.accept import accept
from services.tools.settle import settle
from tests.support.house import running_house, settings_for
from tests.support.letters import letter


async def test_a_mail_is_answered_and_the_thread_waits(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A customer's question is answered once, in its thread, and the thread's state follows."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with running_house(settings) as house:
        raw = letter("Hello, I am John from Acme. What does the Team plan cost?\n\nJohn Miller", message_id="<q1@acme.example>")
        await accept(house, settings.inboxes[0], raw, source="file", source_key="q1")
        await settle(house)
        async with house.database.reading() as conn:
            turns = await fetch_all(conn, "SELECT outcome, reason FROM turns")
            threads = await fetch_all(conn, "SELECT state FROM threads")
            deliveries = await fetch_all(conn, "SELECT state, message_id, recipient, detail FROM deliveries")
            log = await fetch_all(conn, "SELECT type, source FROM events ORDER BY seq")
            failed = await fetch_all(conn, "SELECT data FROM events WHERE type='turn.failed.v1'")
    for row in log: print(row)
    print(turns, threads, deliveries, failed)
    assert [row["state"] for row in deliveries] == ["sent"]
