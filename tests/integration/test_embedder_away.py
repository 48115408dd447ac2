"""The embedding service is away, for whatever reason: what needs it waits in sight of everybody, and goes on by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.db import fetch_all
from services.operations.health.state import read_health
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.chaos.scripts import diligent_model
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.bus import until_true
from tests.support.embedding_server import embedding_server
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel

MAILS = 3
OUTCOMES = "SELECT outcome, count(*) AS n FROM turns GROUP BY outcome"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((503, b"overloaded"), "503"),
        ((401, b"revoked"), "401"),
        ((200, b"<html>down for maintenance</html>"), "without vectors"),
    ],
)
async def test_an_outage_of_the_embedder_turned_mails_into_failed_turns(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, answer: tuple[int, bytes], words: str
) -> None:
    """An overload, a revoked key and a page of a proxy fail no turn and make no dead letter; the end is noticed."""
    async with ScriptedModel() as model:
        model.script(diligent_model(1))
        with embedding_server() as server:
            server.answer = answer
            settings = settings_for(
                stack,
                database,
                topic_prefix,
                tmp_path,
                model={"provider": "anthropic", "api_key": "test-key", "base_url": model.base_url, "max_retries": 0},
                embeddings={"url": server.url, "model": "voyage", "dimensions": 384},
                lanes={"retry_s": 0},
            )
            async with running_brokerless(settings) as app:
                for number in range(MAILS):
                    raw = letter("Where is it?", sender=f"P <p{number}@x.example>", message_id=f"<{number}@x.example>")
                    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))

                async def is_noted() -> bool:
                    problems = dict((await read_health(app)).problems())
                    return words in problems.get("embedder", "") and server.asked >= MAILS

                await until_true(is_noted)
                assert await outcomes(app) == {None: MAILS}
                server.answer = None
                await until_idle(app, timeout_s=120)
                assert (await read_health(app)).embedder is None
                found = await outcomes(app)
                assert "failed" not in found
                assert found.get("sent", 0) >= 1


async def outcomes(app: App) -> dict[str | None, int]:
    async with app.database.reading() as conn:
        return {row["outcome"]: row["n"] for row in await fetch_all(conn, OUTCOMES)}
