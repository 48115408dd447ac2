"""Retries over days, by timers: until the server takes the mail, or until the days are over."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.demo.clock import SteppingClock
from services.operations.health.state import read_health
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.smtp_server import DROP, Session, SmtpServer, Step

LEDGER = """
SELECT d.recipient, d.state, d.detail, d.attempt, d.retry_at, t.state AS thread, u.outcome, u.reason
FROM deliveries d JOIN threads t USING (thread_id) JOIN turns u USING (turn_id) ORDER BY d.recipient"""
ATTEMPTS = """
SELECT a.attempt, a.result, a.at FROM delivery_attempts a JOIN deliveries d USING (reply_id)
WHERE d.recipient = %(recipient)s ORDER BY a.version"""


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_reply_is_tried_for_five_days_and_no_longer(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A server that is back on the fourth day gets the mail once; one that says 4xx for ever ends it, and a human is called."""
    clock = SteppingClock(utc_now())
    began = clock()

    def script(session: Session, step: Step) -> str | None:
        if step == "rcpt" and session.recipient == "busy@days.example":
            return "451 4.2.1 greylisted"
        away = session.recipient == "away@days.example" and clock() < began + timedelta(days=4)
        return DROP if step == "rcpt" and away else None

    async with SmtpServer(script) as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port}
        )
        async with running_brokerless(settings, now=clock) as app:
            for who in ("away", "busy"):
                raw = letter(
                    "What does it cost?", sender=f"{who} <{who}@days.example>", message_id=f"<{who}@d.example>"
                )
                await accept(app, settings.inboxes[0], raw, source="file", source_key=who)
            await until_idle(app)
            while at := _next([row for row in await _rows(app, LEDGER) if row["state"] == "approved"]):
                clock.forward(at + timedelta(seconds=1))
                await until_idle(app)
            away, busy = await _rows(app, LEDGER)
            tried = await _rows(app, ATTEMPTS, recipient="busy@days.example")
    assert (away["state"], away["outcome"]) == ("sent", "sent")
    assert (busy["state"], busy["outcome"], busy["thread"]) == ("failed", "failed", "escalated")
    assert busy["detail"].startswith("given up after days: 451 4.2.1 greylisted")
    assert "greylisted" in busy["reason"]
    assert [one.recipient for one in server.accepted] == ["away@days.example"]
    assert [one["attempt"] for one in tried] == list(range(1, len(tried) + 1))
    assert timedelta(days=4, hours=20) < tried[-1]["at"] - tried[0]["at"] <= timedelta(days=5)
    assert away["attempt"] > 20


async def test_an_smtp_server_that_was_away_was_nowhere_said(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A server that refuses connections is a problem of the status with what to do, until a reply has left."""
    clock = SteppingClock(utc_now())
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
    settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp)
    async with running_brokerless(settings, now=clock) as app:
        raw = letter("What does it cost?", sender="Ann <ann@days.example>", message_id="<ann@d.example>")
        await accept(app, settings.inboxes[0], raw, source="file", source_key="ann")
        await until_idle(app)
        [words] = [words for key, words in (await read_health(app)).problems() if key.startswith("smtp")]
        assert "replies cannot be sent" in words
        assert "they are kept and tried again" in words
        assert f"correspondent inbox test {settings.inboxes[0].name}" in words
        assert str(server.port) in words
        async with SmtpServer(port=server.port) as back:
            [row] = await _rows(app, LEDGER)
            clock.forward(row["retry_at"] + timedelta(seconds=1))
            await until_idle(app)
            assert [one.recipient for one in back.accepted] == ["ann@days.example"]
        assert [key for key, _ in (await read_health(app)).problems() if key.startswith("smtp")] == []


def _next(waiting: list[dict[str, Any]]) -> datetime | None:
    return min((row["retry_at"] for row in waiting), default=None)


async def _rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


async def test_a_server_that_answers_in_latin_1_made_every_reply_one_of_unknown_fate(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Bytes that are no UTF-8, and a NUL, in what a server says: a 451 is a 451, and a mail that it took was sent."""
    clock = SteppingClock(utc_now())
    latin = "für später\x00".encode("latin-1").decode("utf-8", "surrogateescape")

    def script(session: Session, step: Step) -> str | None:
        if step == "rcpt":
            return f"451 {latin}" if session.number == 1 else None
        return f"250 angenommen {latin}" if step == "accepted" else None

    async with SmtpServer(script) as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port}
        )
        async with running_brokerless(settings, now=clock) as app:
            raw = letter("What does it cost?", sender="Ann <ann@days.example>", message_id="<ann@d.example>")
            await accept(app, settings.inboxes[0], raw, source="file", source_key="ann")
            await until_idle(app)
            [deferred] = await _rows(app, LEDGER)
            assert deferred["state"] == "approved"
            assert deferred["detail"].startswith("451 f\ufffdr sp\ufffdter")
            clock.forward(deferred["retry_at"] + timedelta(seconds=1))
            await until_idle(app)
            [sent] = await _rows(app, LEDGER)
    assert (sent["state"], sent["thread"] != "escalated", len(server.accepted)) == ("sent", True, 1)
