"""send_email refuses whatever carries a replay mark."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from schemas.events.replies import ReplySending
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import caused, first
from services.core.bus.replays import ReplayRefused, refusing_replays, silent_on_replays
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


async def test_a_refused_replay_fails_no_turn() -> None:
    """Giving up on a replay says nothing, so it goes to the dead letters; on a live event it speaks."""

    async def speak(unit: Any, error: BaseException) -> bool:
        return True

    for envelope, spoken in ((REPLAYED, False), (LIVE, True)):
        unit: Any = SimpleNamespace(cause=envelope)
        assert await silent_on_replays(speak)(unit, ReplayRefused()) is spoken


def test_the_mark_travels_to_what_is_caused_and_over_the_wire() -> None:
    """An event caused by a replay is of the replay, also after it was a Kafka record; others have no such header."""
    child = caused(DATA, REPLAYED, source="send_email", step="0")
    assert child.replay == "r1"
    for envelope in (child, LIVE):
        record = encode(envelope)
        delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
        assert decode(delivery) == envelope
        assert any(name == "ce_replay" for name, _ in record.headers) is bool(envelope.replay)
