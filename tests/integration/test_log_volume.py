"""How much a running deployment logs."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from deploy.local import Endpoints
from services.core.db import fetch_all
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter

MAILS = 3


async def test_logs_had_several_lines_for_an_event(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Handling writes one line an event at most at `info`, our own and the libraries' together, and no warning."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with running_brokerless(settings) as app:
        with capture_logs() as ours, caplog.at_level(logging.INFO):
            caplog.clear()
            for number in range(MAILS):
                raw = letter(f"Where is parcel {number}?", message_id=f"<{number}@people.example>")
                await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
            await until_idle(app)
        async with app.database.reading() as conn:
            (row,) = await fetch_all(conn, "SELECT count(*) AS n FROM journal")
    said = [one for one in ours if one["log_level"] != "debug"]
    libraries = [one for one in caplog.records if one.levelno >= logging.INFO]
    assert row["n"] > 10 * MAILS
    assert len(said) + len(libraries) <= row["n"]
    assert [one for one in said if one["log_level"] in ("warning", "error", "critical")] == []
