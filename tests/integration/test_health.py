"""What stands still is seen, whatever its cause: by the offsets, or by the journal where offsets have passed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from schemas.events.threads import ThreadTransitionRequested
from services.core.app import App, open_app
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery, Record
from services.core.bus.log_losses import acknowledge, recent_losses
from services.core.bus.outbox_relay import sweep
from services.core.bus.topics_admin import ends
from services.core.db import fetch_all
from services.core.errors import Permanent
from services.operations import dead_letters
from services.operations.dead_letters import Choice
from services.operations.health import state
from services.operations.health.backlog import read_backlog
from services.operations.health.state import read_health
from services.operations.health.watch import look
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.operations.requests import ask
from services.receive_email.accept import accept
from tests.support.app import running_app, settings_for
from tests.support.groups import reset_group
from tests.support.letters import letter
from tests.support.tending import tending

AWAY = """INSERT INTO outages (workspace, service, since, error, next_probe)
VALUES (%(workspace)s, 'model', clock_timestamp() - interval '1 hour', '529: overloaded', clock_timestamp())"""
UNFETCHED = """INSERT INTO unfetched_mails (workspace, inbox, folder, uidvalidity, uid, attempts, error, tried_at)
VALUES (%(workspace)s, 'support', 'INBOX', 1, 7, 3, 'NO some messages', clock_timestamp())"""
REFUSED = (
    "UPDATE outbox SET attempts = 2, error = 'LogRefused: too large', next_attempt = next_attempt + interval '1 h'"
)


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[App]:
    """A deployment in which nobody is at work, and in which everything is late at once."""
    monkeypatch.setattr(state, "OLD_S", 0.0)
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as one:
        yield one


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


async def execute(app: App, query: str) -> None:
    async with app.database.reading() as conn:
        await conn.execute(query, {"workspace": app.settings.workspace})


async def test_a_partition_that_no_consumer_reads_is_seen_with_its_age(app: App) -> None:
    """Each group that has not processed the first record of a partition is named with place, offset and age."""
    topic = app.settings.kafka.topic_prefix + "turns"
    await app.publisher.publish([Record(topic, b"k", b"1"), Record(topic, b"k", b"2")])
    found = await read_health(app)
    assert found.groups is not None
    late = {one.consumer: one.stalled(older_s=-1) for one in found.groups if one.behind}
    assert set(late) == {"earn_approval", "load_memory", "reflect", "send_email", "track_threads"}
    [behind] = late["track_threads"]
    assert (behind.topic, behind.offset, behind.records) == ("turns", 0, 2)
    assert 0 <= behind.oldest_s < 60


async def test_an_event_that_offsets_have_passed_was_seen_by_nobody(app: App) -> None:
    """The journal says that it was never done, although no group has anything left to read."""
    await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    assert [(one.consumer, one.events, one.type) for one in (await read_health(app)).undone] == [
        ("read_email", 1, "mail.received.v1")
    ]


async def test_what_was_undone_for_more_than_three_days_was_forgotten_by_status(app: App) -> None:
    """However long ago an event was stored and whatever was done after it: undone, it is seen."""
    await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    await execute(app, "UPDATE events SET stored_at = stored_at - interval '30 days'")
    assert len((await read_health(app)).undone) == 1
    await look(app, frozenset())
    assert [one["seq"] for one in await rows(app, "SELECT seq FROM undone_events")] != []
    assert len((await read_health(app)).undone) == 1
    await execute(
        app, "INSERT INTO journal (consumer, event_id, event_day) SELECT 'read_email', id, time::date FROM events"
    )
    assert (await read_health(app)).undone == ()


async def test_what_was_given_up_was_counted_twice_in_status(app: App) -> None:
    """An event that its consumer gave up, even twice, is one dead letter, and neither undone nor a mail not yet read."""
    await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    [event] = await rows(app, "SELECT id, topic, data FROM events WHERE type = 'mail.received.v1'")
    prefix = app.settings.kafka.topic_prefix
    headers = (("ce_id", str(event["id"]).encode()), ("ce_time", app.now().isoformat().encode()))
    for offset in range(2):
        came = Delivery(prefix + event["topic"], 0, offset, b"key", b"{}", headers, 0)
        error = Permanent("trouble")
        made = make_dead_letter(came, group=f"{prefix}read_email", error=error, attempts=1, at=app.now())
        await app.publisher.publish([made])
    waits = {one.name: one.count for one in (await read_backlog(app)).waiting}
    assert (waits["letters"], waits["unread"]) == (1, 0)
    health = await read_health(app)
    assert health.undone == ()
    assert [key for key, _ in health.problems() if "read_email" in key and "stalled" not in key] == [
        "dead letters read_email"
    ]
    [one] = await dead_letters.page_of(app, Choice(), every=False, limit=5, after="")
    await dead_letters.discard(app, one, "not ours")
    assert {one.name: one.count for one in (await read_backlog(app)).waiting}["letters"] == 0
    assert (await read_health(app)).given_up == ()


async def test_what_stands_still_alerted_nobody(app: App) -> None:
    """A problem that is there at two looks is one call of the kind `system` a day, in the words that status shows."""
    await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    for statement in (AWAY, UNFETCHED):
        await execute(app, statement)
    await execute(
        app, "INSERT INTO outbox (event_id, seq, source) SELECT id, seq, source FROM events ON CONFLICT DO NOTHING"
    )
    await execute(app, REFUSED)
    before = await look(app, frozenset())
    assert {"undone read_email", "outbox", "model", "unfetched support"} <= before
    assert await rows(app, "SELECT id FROM events WHERE type = 'person.called.v1'") == []
    for _ in range(2):
        await look(app, before)
    calls = await rows(app, "SELECT data FROM events WHERE type = 'person.called.v1'")
    assert {one["data"]["kind"] for one in calls} == {"system"}
    said = [one["data"]["reason"] for one in calls]
    assert len(said) == len(set(said))
    assert any("529: overloaded" in one for one in said)
    assert any("inbox support" in one for one in said)
    assert any("the broker refuses 1 stored events" in one for one in said)
    assert await sweep(app) == 0


async def test_a_backlog_that_is_worked_off_after_an_outage_was_said_to_stand_still(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alert says that a partition stands still where it is at one offset twice; of a model that is away, only that."""
    monkeypatch.setattr(state.GroupHealth.stalled, "__defaults__", (-1.0,))
    kafka = app.settings.kafka
    topic = kafka.topic_prefix + "turns"
    await app.publisher.publish([Record(topic, b"k", b"1"), Record(topic, b"k", b"2")])
    [place] = [one for one, end in (await ends(kafka.brokers, [topic])).items() if end]
    before = await look(app, frozenset())
    await reset_group(kafka.brokers, kafka.topic_prefix + "load_memory", {place: 1})
    await look(app, before)
    said = [one["data"]["reason"] for one in await rows(app, "SELECT data FROM events WHERE type = 'person.called.v1'")]
    assert any(one.startswith("reflect stands still") for one in said)
    assert not any(one.startswith("load_memory") for one in said)
    await execute(app, AWAY)
    words = [words for _, words in (await read_health(app)).problems()]
    assert any(one.startswith("the model is away") for one in words)
    assert any(one.startswith("load_memory stands still") for one in words)
    assert not any(one.startswith("reflect") for one in words)


async def test_a_deployment_at_rest_has_no_problems(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where everything is done nothing stands still, however short the patience."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with running_app(settings) as app:
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key=str(uuid4()))
        await until_idle(app)
        monkeypatch.setattr(state, "OLD_S", 0.0)
        assert [words for key, words in (await read_health(app)).problems() if not key.startswith("stalled")] == []


async def test_mail_that_nobody_was_going_to_answer_was_not_seen(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Where no turn, no timer and no person will answer it, it is a problem with a command that helps, and only then."""
    async with tending(stack, database, topic_prefix, tmp_path, threads={"quiet_s": 1800}) as one:
        thread_id = await one.write("What does the Team plan cost?")
        await one.wait(minutes=15)
        assert await _unanswered(one.app) == []  # its quiet period runs
        await execute(one.app, "DELETE FROM timers")
        assert await _unanswered(one.app) == [f"correspondent move {thread_id} in_progress"]
        step = {"to_state": "in_progress", "trigger": "human", "reason": "nobody answers", "by": "grace"}
        await ask(one.app, ThreadTransitionRequested.model_validate({"thread_id": thread_id, **step}))
        await one.settle()
        assert await _unanswered(one.app) == []  # its quiet period runs again
        await one.wait(minutes=31)
        assert await one.rows("SELECT outcome FROM turns") == [{"outcome": "sent"}]


async def _unanswered(app: App) -> list[str]:
    found = await read_health(app)
    return [one.words.rpartition("(")[2].rstrip(")") for one in found.unanswered]


LOST = """INSERT INTO log_topics (name, cluster_id, topic_id, generation, lost_at, reason, republished)
VALUES (%(prefix)s || 'turns', 'c', 't', 1, clock_timestamp() - %(hours)s * interval '1 hour', 'the topic was missing', 7)
ON CONFLICT (name) DO UPDATE SET generation = 1, lost_at = excluded.lost_at, reason = excluded.reason,
    republished = excluded.republished"""


async def test_a_lost_log_was_in_the_logs_of_a_process_only(app: App) -> None:
    """Status says when which topics were lost and how much was published again, for a day or until acknowledged."""
    kafka = app.settings.kafka
    settings = app.settings.model_copy(update={"kafka": kafka.model_copy(update={"embedded": False})})

    async def losses() -> list[str]:
        async with app.database.reading() as conn:
            found = await recent_losses(conn, settings)
        return [words for _, words in replace(await read_health(app), lost=found).problems() if "lost" in words]

    async def lose(hours: float) -> None:
        async with app.database.reading() as conn:
            await conn.execute(LOST, {"prefix": kafka.topic_prefix, "hours": hours})

    await lose(25)
    assert await losses() == []
    await lose(23)
    [said] = await losses()
    assert "turns (the topic was missing); 7 events published again" in said
    async with app.database.reading() as conn:
        assert await acknowledge(conn, settings) == 1
    assert await losses() == []
    await lose(0)
    assert len(await losses()) == 1, "a later loss is another one"
    shown = (await read_health(app)).lost
    assert bool(shown) is not kafka.embedded, "the embedded broker begins empty at each start: that is no loss"
