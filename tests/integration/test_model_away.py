"""The model is away, for whatever reason: its turns wait in sight of everybody, and go on by themselves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.db import fetch_all
from services.core.outages.model import model_outage
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.chaos.scripts import diligent_model
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.bus import until_true
from tests.support.letters import letter
from tests.support.scripted_model import Behaviour, ScriptedModel
from tests.support.scripted_replies import failing, overloaded, rate_limited

MAILS = 6
OUTCOMES = "SELECT count(*) AS n FROM turns WHERE outcome = %(outcome)s"
PROBES_S, PAUSE_S = 3.0, 0.2


@pytest.mark.parametrize(
    ("fails", "words"),
    [
        (lambda: failing(401, message="revoked"), "revoked"),
        (lambda: rate_limited(3600), "come back in 3600 s"),
        (overloaded, "529"),
    ],
)
async def test_an_outage_turned_mails_into_failed_turns(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, fails: Callable[[], Behaviour], words: str
) -> None:
    """A revoked key, a quota or an overload fails no turn: one probe at a time is made, and the end is noticed."""
    async with ScriptedModel() as server:
        server.script(lambda seen: fails())
        settings = settings_for(
            stack,
            database,
            topic_prefix,
            tmp_path,
            model={"provider": "anthropic", "api_key": "test-key", "base_url": server.base_url, "max_retries": 0,
                   "pause_s": PAUSE_S, "longest_pause_s": 0.5},
            lanes={"retry_s": 61},
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            for number in range(MAILS):
                raw = letter("Where is it?", sender=f"P <p{number}@x.example>", message_id=f"<{number}@x.example>")
                await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))

            async def is_noted() -> bool:
                return await model_outage(app) is not None

            await until_true(is_noted)
            asked, began = len(server.requests), time.monotonic()
            await asyncio.sleep(PROBES_S)
            assert 1 <= len(server.requests) - asked <= (time.monotonic() - began) / PAUSE_S
            found = await model_outage(app)
            assert found is not None
            assert words in found.error
            server.script(diligent_model(1))
            await until_idle(app, timeout_s=120)
            assert await model_outage(app) is None
            assert await _count(app, "failed") == 0
            assert await _count(app, "sent") >= MAILS - 2


async def _count(app: App, outcome: str) -> int:
    async with app.database.reading() as conn:
        [row] = await fetch_all(conn, OUTCOMES, {"outcome": outcome})
    return int(row["n"])
