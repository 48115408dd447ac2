"""Imported mail is as old as its Date says: what is learned of it, and what a model is shown of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

import pytest

from deploy.local import Endpoints
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

WRITTEN = datetime(2023, 1, 3, 9, 0, tzinfo=UTC)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A mail of 2023 was imported in 2026."""
    async with tending(stack, database, topic_prefix, tmp_path) as one:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = ADA, one.app.settings.inboxes[0].address, "Export"
        mail["Message-ID"], mail["Date"] = "<old1@acme.example>", format_datetime(WRITTEN)
        mail.set_content("We are on the Team plan. I am on vacation until 15 January. Order 4471 is late.")
        await one.receive(mail.as_bytes(), mode="history")
        yield one


async def context(app: Tended) -> dict[str, str]:
    """The newest context, by layer."""
    rows = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    return {one["name"]: one["text"] for one in rows[0]["data"]["layers"]}


async def test_a_vacation_of_an_imported_mail_is_over(app: Tended) -> None:
    """A day without a year is one of the year in which the mail was written, and what ended then is not shown as so."""
    ends = await app.rows("SELECT expires_at FROM facts WHERE expires_at IS NOT NULL")
    assert [row["expires_at"] for row in ends] == [datetime(2023, 1, 16, tzinfo=UTC)]
    (who,) = await app.rows("SELECT first_seen_at, last_seen_at FROM participants")
    assert who == {"first_seen_at": WRITTEN, "last_seen_at": WRITTEN}
    await app.write("What about my order?", subject="Question")
    shown = await context(app)
    assert "with us since 2023-01-03" in shown["participant"]
    assert "2026-01-16" not in "".join(shown.values())
    assert shown["earlier"].startswith("2023-01-03 «Export»")
    assert "«Export»" not in shown["grains"]


async def test_an_imported_mail_of_the_thread_is_no_recent_one(app: Tended) -> None:
    """Where the thread goes on, brief and summary carry what was said years ago."""
    await app.write("And now?", subject="Re: Export", after="<old1@acme.example>")
    shown = await context(app)
    assert "4471" in shown["brief"] + shown["summary"]
    assert "4471" not in shown["recent"]
