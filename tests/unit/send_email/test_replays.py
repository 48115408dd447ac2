"""What carries a replay mark is refused: by send_email anywhere, by every group where it comes from a log."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from schemas.events.replies import ReplySending
from services import generate_reply
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery, Record
from services.core.bus.envelope import caused, first
from services.core.bus.processor import ReplayRefused, refusing_replays
from services.core.bus.runner import Runner
from services.core.metrics import Metrics
from services.send_email import PROCESSOR

ID = UUID(int=7)
DATA = ReplySending(reply_id=ID, thread_id=ID, turn_id=ID, attempt=1)
LIVE = first(DATA, id=ID, source="send_email", time=datetime(2026, 3, 2, tzinfo=UTC), workspace="main")
REPLAYED = replace(LIVE, replay="r1")


def work(envelope: Any) -> Any:
    return SimpleNamespace(envelope=envelope)


async def test_every_handler_of_the_processor_refuses_a_replay() -> None:
    """No event type gets past the mark."""
    for handler in PROCESSOR.handlers.values():
        with pytest.raises(ReplayRefused):
            await handler(work(REPLAYED))


async def test_a_live_event_reaches_its_handler() -> None:
    """Without the mark the handler is called with the work it was given."""
    seen: list[Any] = []

    async def handler(given: Any) -> None:
        seen.append(given.envelope)

    await refusing_replays({ReplySending: handler})[ReplySending](work(LIVE))
    assert seen == [LIVE]


async def test_no_group_takes_a_replay_from_a_log_and_none_fails_a_turn_for_it() -> None:
    """A marked record is refused before its handler, and becomes a dead letter although its processor could speak."""

    class Nowhere:
        async def open_bytes(self, value: bytes, *, of: str = "") -> tuple[bytes, None]:
            return value, None

        async def find(self, ids: Any) -> dict[UUID, Any]:
            return {}

    dead_letters: list[Record] = []

    async def publish(records: list[Record]) -> None:
        dead_letters.extend(records)

    app: Any = SimpleNamespace(
        settings=SimpleNamespace(kafka=SimpleNamespace(topic_prefix="")),
        database=SimpleNamespace(answered=0, cut_off=0),
        keys=Nowhere(),
        metrics=Metrics(),
        publisher=SimpleNamespace(publish=publish),
        now=lambda: REPLAYED.time,
    )
    record = encode(REPLAYED)
    delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
    with pytest.raises(ReplayRefused, match="belongs to replay r1") as refused:
        await Runner(generate_reply.PROCESSOR, app).handle(delivery)
    assert generate_reply.PROCESSOR.give_up is not None
    await Runner(generate_reply.PROCESSOR, app).give_up(delivery, refused.value, 1)
    assert [one.topic for one in dead_letters] == [f"{record.topic}.generate_reply.dlq"]


def test_the_mark_travels_to_what_is_caused_and_over_the_wire() -> None:
    """An event caused by a replay is of the replay, also after it was a Kafka record; others have no such header."""
    child = caused(DATA, REPLAYED, source="send_email", step="0")
    assert child.replay == "r1"
    for envelope in (child, LIVE):
        record = encode(envelope)
        delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
        assert decode(delivery) == envelope
        assert any(name == "ce_replay" for name, _ in record.headers) is bool(envelope.replay)
