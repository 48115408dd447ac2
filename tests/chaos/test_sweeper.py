"""What a crash left stored but unpublished is published by others, who must not wait for each other."""

from __future__ import annotations

import asyncio
from pathlib import Path

from deploy.local import Endpoints
from services.core.app import App, open_app
from services.core.bus.outbox_relay import sweep
from services.core.db import fetch_all
from services.operations.preparation import prepare
from services.receive_email.accept import accept
from tests.chaos.traffic import make_mails
from tests.support.app import settings_for

UNPUBLISH = "UPDATE events SET published_at = NULL, stored_at = stored_at - interval '1 minute'"


async def test_sweep_waited_for_itself_holding_the_rows_that_it_had_to_mark(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A sweep publishes and marks old unpublished events, several sweeps at once included, and holds up nobody."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        for mail in make_mails(3, 5, 5):
            await accept(app, settings.inboxes[0], mail.raw, source="file", source_key=mail.key)
        async with app.database.reading() as conn:
            await conn.execute(UNPUBLISH)
        async with asyncio.timeout(120):
            swept = await asyncio.gather(sweep(app), sweep(app), sweep(app))
        assert max(swept) == 5
        assert await _unpublished(app) == []


async def _unpublished(app: App) -> list[object]:
    async with app.database.reading() as conn:
        return [row["id"] for row in await fetch_all(conn, "SELECT event_id AS id FROM outbox")]
