"""The process that tells people is killed (SIGKILL) at each of its steps: they are told all the same."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.clock import utc_now
from services.keep_time.keeper import fire_due
from tests.support.crashing_sender import ALERT_POINTS, TIMER, crash
from tests.support.smtp_server import SmtpServer
from tests.support.tending import tending

OPS = "ops@ourcompany.example"
RULE = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}


@pytest.mark.parametrize("point", ALERT_POINTS)
async def test_a_killed_teller_leaves_nobody_untold(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, point: str
) -> None:
    """Told once; twice alone where it dies between handing over and writing that down, and then under the same id."""
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        said = {"alerts": {"to": [{"mail": OPS}], "gather_s": 5}, "smtp": smtp, "behaviours": [RULE]}
        async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
            kafka = app.app.settings.kafka
            await ensure_topics(kafka.brokers, [TopicSpec(f"{topic_prefix}alerts", 1)], replication=kafka.replication)
            app.clock.forward(utc_now() - timedelta(hours=1))  # its clock is behind that of the process that dies
            await app.write("We want out.", subject="Our contract")
            app.clock.forward(app.clock() + timedelta(seconds=10))
            await fire_due(app.app)
            (timer,) = await app.rows(
                "SELECT id FROM events WHERE type = %(timer)s AND data ->> 'purpose' = 'alert'", timer=TIMER
            )
            await crash(app.app.settings, point, timer["id"])
            await app.settle()
            await app.wait(days=1)
            (row,) = await app.rows("SELECT state, attempt FROM alert_digests")
        copies = Counter(one.message_id for one in server.accepted if one.recipient == OPS)
    assert list(copies.values()) == [2 if point == "alert-handed-over" else 1]
    assert row["state"] == "sent"
