"""The outbox: what the broker refuses stops only itself, and is published from the row as it is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from schemas.events.replies import MemoryLoaded
from schemas.events.threads import TurnOpened
from services.core.app import App, open_app
from services.core.bus import event_store, outbox_relay
from services.core.bus.codec import decode, encode, record_of, said_by
from services.core.bus.delivery import Delivery, Record
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.outbox_relay import refill, sweep
from services.core.bus.processor import Processor, failed_turn
from services.core.bus.publisher import LogUnavailable, Outcome
from services.core.bus.runner import Runner
from services.core.bus.topics_admin import ends
from services.core.bus.work import Work
from services.core.db import fetch_all
from services.operations.dead_letters import CannotRedrive, redrive
from services.operations.idle import unfinished
from services.operations.log import read
from services.operations.preparation import prepare
from services.pipeline import consumers
from tests.support.app import settings_for
from tests.support.dead_letters import all_dead_letters
from tests.support.memory_log import MemoryLog, MemoryPublisher
from tests.support.workers import ROOT

EXAMPLES = ROOT / "schemas" / "examples"
DUE = "UPDATE outbox SET next_attempt = clock_timestamp() - interval '1 second'"
STORE = """INSERT INTO events (id, workspace, topic, key, type, source, time, correlation_id, data)
VALUES (gen_random_uuid(), 'main', %(topic)s, %(key)s, %(type)s, 'somebody', clock_timestamp(), gen_random_uuid(), %(data)s)
"""


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path, workspace="main")
    await prepare(settings)
    async with open_app(settings) as one:
        yield one


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


def example(name: str) -> Envelope:
    """The golden example of an event."""
    held = json.loads((EXAMPLES / f"{name}.json").read_text())
    headers = tuple((key, value.encode()) for key, value in held["headers"].items())
    return decode(Delivery("t", 0, 0, b"k", json.dumps(held["data"]).encode(), headers))


async def store(app: App, topic: str, kind: str, data: str = "{}", times: int = 1) -> None:
    """Events that version 0.1, or a later one, stored and did not publish."""
    async with app.database.transaction() as conn:
        for _ in range(times):
            await conn.execute(STORE, {"topic": topic, "key": str(uuid4()), "type": kind, "data": data})
        await conn.execute(DUE)


async def count(app: App, topic: str) -> int:
    found = await ends(app.settings.kafka.brokers, [app.settings.kafka.topic_prefix + topic])
    return sum(found.values())


async def test_a_row_is_published_like_the_envelope_that_it_was_stored_from(app: App) -> None:
    """Topic, key, headers and content of a record that is made of a row are those that its envelope gives."""
    for number, path in enumerate(sorted(EXAMPLES.glob("t*.json"))):
        one = replace(example(path.stem), replay="", version=number)
        async with app.database.transaction() as conn:
            [kept] = await event_store.store(conn, [one])
        [row] = await rows(app, "SELECT *, data AS raw FROM events WHERE id = %(id)s", id=one.id)
        made, meant = record_of(EventRow.of(**row)), encode(kept)
        assert (made.topic, made.key, made.headers) == (meant.topic, meant.key, meant.headers)
        assert json.loads(made.value or b"") == json.loads(meant.value or b"")


async def test_an_unknown_type_stopped_the_relay_and_the_start_after_a_rollback(app: App) -> None:
    """Rows of a type or a shape that this version cannot read are published with all others, and again when told so."""
    await store(app, "turns", "turn.paused.v7", '{"nobody": "knows"}')
    await store(app, "turns", "turn.opened.v1", '"not even an object"')
    await store(app, "turns", "turn.closed.v1", '{"thread_id": 7}')
    assert await sweep(app) == 3
    assert await count(app, "turns") == 3
    assert await rows(app, "SELECT * FROM outbox") == []
    assert await refill(app, consumers()) == 3


async def test_five_hundred_refused_events_starved_the_five_behind_them(app: App) -> None:
    """Each refused event has its own next attempt: what stands behind them leaves at the next look."""
    await store(app, "no-such-topic", "thing.done.v1", times=500)
    await store(app, "turns", "turn.closed.v1", times=5)
    assert await sweep(app) == 500
    assert await sweep(app) == 5
    assert await count(app, "turns") == 5
    [left] = await rows(app, "SELECT count(*) AS n, min(attempts) AS least, min(error) AS error FROM outbox")
    assert (left["n"], left["least"]) == (500, 1)
    assert "TopicMissing" in left["error"]
    assert await sweep(app) == 0


class OneTopicAway(MemoryPublisher):
    """A broker that answers, and has too few replicas of one topic to take anything for it."""

    away = "turns"

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """What is for that topic is not acknowledged."""
        taken = [one for one in records if not one.topic.endswith(self.away)]
        self._log.append(taken)
        return [None if one in taken else LogUnavailable("NotEnoughReplicasError") for one in records]


async def test_five_hundred_events_of_a_topic_without_replicas_starved_all_other_topics(app: App) -> None:
    """What waits for one topic holds no other back, and goes out in its order when the topic takes it."""
    await store(app, "turns", "turn.closed.v1", times=500)
    await store(app, "memory-loaded", "memory.loaded.v1", times=5)
    broker = OneTopicAway(MemoryLog.of(app.settings.kafka.topic_prefix))
    there = replace(app, publisher=broker)
    with pytest.raises(LogUnavailable):
        await sweep(there)
    assert len(MemoryLog.of(app.settings.kafka.topic_prefix).records) == 5
    [left] = await rows(app, "SELECT count(*) AS n, max(attempts) AS most FROM outbox")
    assert (left["n"], left["most"]) == (500, 0)
    broker.away = "none"
    assert await sweep(there) == 500
    assert await rows(app, "SELECT * FROM outbox") == []


async def test_what_a_killed_process_left_waited_a_day_where_the_clock_was_set_back_by_one(app: App) -> None:
    """No pause is as long as a day: the event goes out at the next look, and the relay looks at once."""
    await store(app, "turns", "turn.closed.v1")
    async with app.database.reading() as conn:
        await conn.execute("UPDATE outbox SET next_attempt = clock_timestamp() + interval '1 day'")
    [soonest] = await rows(app, str(event_store.SQL.outbox_next))
    assert soonest["due_s"] <= 0
    assert await sweep(app) == 1
    assert await rows(app, "SELECT * FROM outbox") == []


async def test_a_relay_that_failed_at_once_tried_again_without_a_pause(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publisher that cannot be started fails in no time: the relay rests, and does not fill the log."""
    await store(app, "turns", "turn.closed.v1")
    await app.publisher.stop()
    stop, rests = asyncio.Event(), []

    async def pause(_: asyncio.Event, rest_s: float) -> None:
        rests.append(rest_s)
        stop.set()

    monkeypatch.setattr(outbox_relay, "pause", pause)
    await outbox_relay.relay(app, stop)
    assert rests == [outbox_relay.AGAIN_S]


async def test_pauses_of_a_refused_event_grow_to_an_hour(app: App) -> None:
    """The pause doubles from ten seconds; no event is asked about more often than once an hour in the end."""
    await store(app, "no-such-topic", "thing.done.v1")
    seconds = []
    for _ in range(11):
        await sweep(app)
        pause = "SELECT extract(epoch FROM next_attempt - clock_timestamp())::int AS s FROM outbox"
        seconds.append((await rows(app, pause))[0]["s"])
        async with app.database.reading() as conn:
            await conn.execute(DUE)
    assert [round(one, -1) for one in seconds[:4]] == [10, 20, 40, 80]
    assert max(seconds) <= 3600 == round(seconds[-1], -1)


def big_context() -> Processor:
    """A processor whose event no broker takes."""

    async def handle(work: Work[TurnOpened]) -> None:
        base = example("memory.loaded.v1").data
        assert isinstance(base, MemoryLoaded)
        layer = base.layers[0].model_copy(update={"text": "x" * 1_200_000})
        same = {"turn_id": work.event.turn_id, "thread_id": work.event.thread_id}
        async with work.unit() as unit:
            await unit.record(base.model_copy(update={"layers": (layer,), **same}))

    return Processor("load_memory", {TurnOpened: handle}, give_up=failed_turn("load_memory"))


async def test_a_stored_event_that_the_broker_refuses_stalled_its_partition(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler has done its work: the event is acknowledged, its turn fails, the refused one waits in the outbox."""
    monkeypatch.setattr(event_store, "LARGEST_EVENT", 10_000_000)
    opened = replace(example("turn.opened.v1"), id=uuid4(), replay="")
    runner = Runner(big_context(), app)
    for _ in range(2):  # the second time is a redelivery after a crash
        await Runner(big_context(), app).process(opened)
    [failed] = await rows(app, "SELECT id, data FROM events WHERE type = 'turn.failed.v1'")
    assert failed["data"]["processor"] == "load_memory"
    assert "memory.loaded.v1" in failed["data"]["error"]
    assert await count(app, "turns") >= 1  # a redelivery publishes it again; it is known by its id
    [waits] = await rows(app, "SELECT attempts, error FROM outbox")
    assert waits["attempts"] == 1
    assert "MessageSizeTooLarge" in waits["error"]
    assert await runner.give_up(_delivery(opened), RuntimeError("lanes think so"), 3) is None
    assert await rows(app, "SELECT letter_id FROM letter_decisions") == []
    assert await count(app, "turns.load_memory.dlq") == 0


async def test_a_record_as_large_as_the_log_takes_had_no_dead_letter_and_stalled_its_partition(app: App) -> None:
    """What another program wrote leaves no room for our headers: the dead letter then says where the record lies."""
    topic = app.settings.kafka.topic_prefix + "turns"
    headers = (("ce_id", b"7"), ("x", b"y" * 5000))
    record = Delivery(topic, 4, 17, b"k" * 2000, b"x" * 1_000_000, headers, 1_700_000_000_000)
    await Runner(big_context(), app).give_up(record, ValueError("not an event"), 1)
    [dead_letter] = await all_dead_letters(app)
    assert dict(dead_letter.record.headers)["ce_id"] == b"7"
    assert dict(dead_letter.record.headers)["dlq_origin_offset"] == b"17"
    assert (dead_letter.record.value, dead_letter.group) == (b"", "load_memory")
    assert "1,007," in dead_letter.unreadable
    with pytest.raises(CannotRedrive, match="while its topic keeps them"):
        await redrive(app, dead_letter)


async def test_a_done_event_whose_log_is_away_became_a_dead_letter(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the lane's patience ends, what was done is acknowledged, and what came of it is left to the relay."""
    opened = replace(example("turn.opened.v1"), id=uuid4(), replay="")

    async def handle(work: Work[TurnOpened]) -> None:
        base = example("memory.loaded.v1").data
        async with work.unit() as unit:
            await unit.record(base.model_copy(update={"turn_id": work.event.turn_id}))

    runner = Runner(Processor("load_memory", {TurnOpened: handle}, give_up=failed_turn("load_memory")), app)
    await app.publisher.stop()
    with pytest.raises(LogUnavailable):
        await runner.process(opened)
    await runner.give_up(_delivery(opened), LogUnavailable("away"), 9)
    assert [row["attempts"] for row in await rows(app, "SELECT attempts FROM outbox")] == [0]
    await app.publisher.start()
    async with app.database.reading() as conn:
        await conn.execute(DUE)
    assert await sweep(app) == 1
    assert await count(app, "memory-loaded") == 1
    assert await rows(app, "SELECT id FROM events WHERE type = 'turn.failed.v1'") == []


def _delivery(envelope: Envelope) -> Delivery:
    record = encode(envelope)
    return Delivery(record.topic, 0, 0, record.key, record.value, record.headers)


async def test_what_an_attempt_before_left_behind_is_published_first(app: App) -> None:
    """An attempt that ended between its units left an event in the outbox: the next one publishes both, in their order."""
    opened = replace(example("turn.opened.v1"), id=uuid4(), replay="")
    ends_early = [True]

    async def handle(work: Work[TurnOpened]) -> None:
        failed = example("turn.failed.v1").data.model_copy(update={"thread_id": work.event.thread_id})
        if ends_early.pop() if ends_early else False:
            async with work.unit("intent", final=False) as unit:
                await unit.record(failed.model_copy(update={"error": "first"}))
            raise RuntimeError("the process ends here")
        async with work.unit() as unit:
            await unit.record(failed.model_copy(update={"error": "second"}))

    runner = Runner(Processor("load_memory", {TurnOpened: handle}), app)
    with pytest.raises(RuntimeError):
        await runner.process(opened)
    assert await count(app, "turns") == 0
    await runner.process(opened)
    assert await count(app, "turns") == 2
    assert await rows(app, "SELECT * FROM outbox") == []
    stored = await rows(app, "SELECT id FROM events ORDER BY seq")
    brokers = app.settings.kafka.brokers
    written = await ends(brokers, [app.settings.kafka.topic_prefix + "turns"])
    published = [said_by(one)[0] async for one in read(brokers, {}, written)]
    assert published == [row["id"] for row in stored]


async def test_a_deployment_counted_as_at_rest_while_an_event_was_on_its_way_to_the_log(app: App) -> None:
    """What is stored and not on the log yet is waited for, also where no consumer waits for it."""
    await store(app, "thread-summarized", "thread.summarized.v1")
    assert await unfinished(app) == 1
    assert await sweep(app) == 1
    assert await unfinished(app) == 0
