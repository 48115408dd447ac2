"""Whatever lies on the log, its consumer comes to an end with it: done, skipped, held, or a dead letter."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from services import load_memory
from services.core.app import App
from services.core.bus.delivery import Delivery
from services.core.bus.held_records import Held
from services.core.bus.processor import Processor, failed_turn
from services.core.bus.runner import Runner
from services.core.bus.unit import Unit
from services.core.db import fetch_all
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.memory_log import MemoryLog
from tests.support.workers import ROOT


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = settings_for(stack, database, topic_prefix, tmp_path, workspace="main")
    async with opened_brokerless(settings) as one:
        yield one


def opened(**changed: bytes) -> Delivery:
    """The record of an opened turn, some of its headers replaced."""
    held = json.loads((ROOT / "schemas" / "examples" / "turn.opened.v1.json").read_text())
    headers = {name: value.encode() for name, value in held["headers"].items()}
    headers |= {"ce_id": str(uuid4()).encode(), **changed}
    return Delivery("turns", 3, 17, b"k", json.dumps(held["data"]).encode(), tuple(headers.items()))


HOSTILE = [
    {"ce_time": b"0001-01-01T00:00:00+14:00"},
    {"ce_time": b"9999-12-31T23:59:59-14:00"},
    {"ce_time": b"0001-01-01T00:00:00+00:00"},
    {"ce_time": b"9999-12-31T23:59:59+00:00"},
    {"ce_workspace": b"ma\x00in"},
    {"ce_workspace": b"x" * 100_000},
    {"ce_source": b"/correspondent/\x00"},
    {"ce_aggregateversion": b"9" * 40},
    {"ce_type": b"turn.opened.v2\x00"},
    {"ce_type": b"turn.opened.v2", "ce_time": b"0001-01-01T00:00:00+14:00"},
    {"ce_type": b"turn.paused.v1", "ce_time": b"0001-01-01T00:00:00+14:00"},
    {"ce_type": b"no\x00such.v1"},
    {"ce_replay": b"\x00"},
]


@pytest.mark.parametrize("headers", HOSTILE)
async def test_a_record_whose_header_no_table_holds_was_given_up_for_ever(app: App, headers: dict[str, bytes]) -> None:
    """A first day without a day before it, a NUL in a workspace: its partition stood still, as giving up failed, too."""
    runner, record = Runner(load_memory.PROCESSOR, app), opened(**headers)
    try:
        await runner.handle(record)
    except Held:
        async with app.database.reading() as conn:
            [held] = await fetch_all(conn, "SELECT record_offset FROM held_records")
        assert held == {"record_offset": 17}
    except Exception as error:
        await runner.give_up(record, error, 1)


async def test_what_a_processor_could_not_say_of_an_event_was_said_again_for_ever(app: App) -> None:
    """Where recording the failed turn fails for good, the event is a dead letter."""

    async def broken(unit: Unit, error: BaseException) -> bool:
        raise KeyError("no such thread")

    processor = Processor("load_memory", load_memory.PROCESSOR.handlers, give_up=broken)
    await Runner(processor, app).give_up(opened(), ValueError("poison"), 1)
    prefix = app.settings.kafka.topic_prefix
    [dead_letter] = MemoryLog.of(prefix).records
    assert dead_letter.topic == f"turns.{prefix}load_memory.dlq"
    assert dict(dead_letter.headers)["dlq_error_class"] == b"builtins.ValueError"


async def test_an_error_that_repeats_a_nul_of_a_mail_could_not_fail_its_turn(app: App) -> None:
    """The turn fails with the words that a table can hold."""
    processor = Processor("load_memory", load_memory.PROCESSOR.handlers, give_up=failed_turn("load_memory"))
    record = replace(opened(), headers=opened(ce_workspace=b"main").headers)
    await Runner(processor, app).give_up(record, ValueError("the subject is 'a\x00b'"), 1)
    async with app.database.reading() as conn:
        [failed] = await fetch_all(conn, "SELECT data FROM events WHERE type = 'turn.failed.v1'")
    assert failed["data"]["error"] == "ValueError: the subject is 'a\ufffdb'"
