"""The process that tells endpoints is killed (SIGKILL) at each of its steps: they are told all the same."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.clock import utc_now
from services.keep_time.keeper import fire_due
from services.operations.webhooks.endpoints import Wanted, add_endpoint
from tests.support.alert_receiver import receiving
from tests.support.crashing_sender import TIMER, WEBHOOK_POINTS, crash
from tests.support.tending import tending

WAITING = "SELECT id FROM events WHERE type = %(timer)s AND data ->> 'purpose' = 'webhook' ORDER BY seq DESC LIMIT 1"


@pytest.mark.parametrize("point", WEBHOOK_POINTS)
async def test_a_killed_sender_leaves_no_endpoint_untold(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, point: str
) -> None:
    """Told once; twice alone where it dies between the answer and writing that down, and then under the same id."""
    said = {"outgoing_webhooks": {"private_hosts": True}}
    async with receiving() as hook, tending(stack, database, topic_prefix, tmp_path, **said) as app:
        kafka = app.app.settings.kafka
        topics = [TopicSpec(f"{topic_prefix}{one}", 1) for one in ("webhooks", "calls")]
        await ensure_topics(kafka.brokers, topics, replication=kafka.replication)
        app.clock.forward(utc_now() - timedelta(hours=1))
        await add_endpoint(app.app, Wanted(hook.url, ("thread.opened",)), by="grace")
        hook.answer = "503 Service Unavailable"  # the first attempt is the deployment's own, the next one dies
        await app.write("How do I export?")
        assert len(hook.posts) == 1
        hook.answer = "204 No Content"
        app.clock.forward(app.clock() + timedelta(minutes=2))
        await fire_due(app.app)
        (timer,) = await app.rows(WAITING, timer=TIMER)
        await crash(app.app.settings, point, timer["id"])
        await app.settle()
        await app.wait(days=1)
        (row,) = await app.rows("SELECT state, attempt FROM webhook_deliveries")
    copies = Counter(one.headers["webhook-id"] for one in hook.posts)
    assert list(copies.values()) == [3 if point == "webhook-taken" else 2]
    assert len({one.body for one in hook.posts}) == 1
    assert (row["state"], row["attempt"]) == ("delivered", 2)
