"""What a newer version writes while older processes run: skipped, or held, and never a dead letter."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from schemas.events.threads import TurnOpened
from services import load_memory
from services.core.app import App
from services.core.bus.codec import Undecodable
from services.core.bus.delivery import Delivery
from services.core.bus.held_records import HELD, SQL, Held
from services.core.bus.processor import Processor
from services.core.bus.retry import classify
from services.core.bus.runner import Runner
from services.core.bus.work import Work
from services.core.db import fetch_all
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.workers import ROOT


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = settings_for(stack, database, topic_prefix, tmp_path, workspace="main")
    async with opened_brokerless(settings) as one:
        yield one


def written(kind: str, data: dict[str, Any] | str | None = None) -> Delivery:
    """A record as a newer version writes it: the headers of an opened turn, but for its type."""
    held = json.loads((ROOT / "schemas" / "examples" / "turn.opened.v1.json").read_text())
    headers = {**held["headers"], "ce_type": kind, "ce_id": str(uuid4())}
    value = data if isinstance(data, str) else json.dumps(data or held["data"])
    return Delivery("turns", 3, 17, b"k", value.encode(), tuple((name, one.encode()) for name, one in headers.items()))


async def rows(app: App, query: Any, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


@pytest.mark.parametrize("kind", ["turn.paused.v1", "turn.closed.v1", "turn.closed.v9"])
async def test_one_unknown_type_made_a_dead_letter_in_every_old_consumer(app: App, kind: str) -> None:
    """A type for which the processor has no handler is skipped by its headers: nothing of its content is read.

    Only what this version does not know at all is journaled: a newer one may have a handler for it.
    """
    record = written(kind, "not even JSON")
    await Runner(load_memory.PROCESSOR, app).handle(record)
    found = [row["id"] for row in await rows(app, "SELECT event_id::text AS id FROM journal")]
    assert found == ([dict(record.headers)["ce_id"].decode()] if kind == "turn.paused.v1" else [])


@pytest.mark.parametrize(
    "record", [written("turn.opened.v2"), written("turn.opened.v1", {"turn_id": "no longer an id"})]
)
async def test_a_newer_version_of_its_own_type_is_held(app: App, record: Delivery) -> None:
    """The record waits without an end and is shown; it is done when a newer version reads it."""
    runner = Runner(load_memory.PROCESSOR, app)
    for _ in range(2):
        with pytest.raises(Held) as caught:
            await runner.handle(record)
        assert classify(caught.value) == "away"
    [held] = await rows(app, SQL.held, **HELD.args("", 10))
    assert (held["consumer"], held["topic"], held["partition"], held["record_offset"]) == (
        "load_memory",
        "turns",
        3,
        17,
    )
    assert await rows(app, "SELECT * FROM journal") == []
    await Runner(_upgraded(), app).handle(replace(record, headers=_as_v1(record), value=written("x").value))
    assert await rows(app, SQL.held, **HELD.args("", 10)) == []


async def test_a_held_record_was_said_again_four_times_a_minute(app: App, caplog: pytest.LogCaptureFixture) -> None:
    """That a record is held is an error in the log once, however long it waits."""
    record = written("turn.opened.v2")
    for _ in range(5):
        with pytest.raises(Held):
            await Runner(load_memory.PROCESSOR, app).handle(record)
    assert [one.levelname for one in caplog.records if "holds a" in one.message] == ["ERROR"]


async def test_a_held_record_can_be_released_as_a_dead_letter(app: App) -> None:
    """A person who knows that no newer version will come lets the partition go on."""
    record, runner = written("turn.opened.v2"), Runner(load_memory.PROCESSOR, app)
    with pytest.raises(Held):
        await runner.handle(record)
    [held] = await rows(app, SQL.held, **HELD.args("", 10))
    await rows(app, SQL.release, id=held["id"])
    with pytest.raises(Undecodable) as caught:
        await runner.handle(record)
    assert classify(caught.value) == "permanent"


async def test_a_record_that_is_no_event_is_a_dead_letter(app: App) -> None:
    """Without a type nobody can say whose it is, and no newer version will."""
    with pytest.raises(Undecodable):
        await Runner(load_memory.PROCESSOR, app).handle(Delivery("turns", 0, 0, b"k", b"poison"))
    assert await rows(app, SQL.held, **HELD.args("", 10)) == []


def _upgraded() -> Processor:
    async def handle(work: Work[TurnOpened]) -> None:
        async with work.unit():
            pass

    return Processor("load_memory", {TurnOpened: handle})


def _as_v1(record: Delivery) -> tuple[tuple[str, bytes], ...]:
    return tuple((name, b"turn.opened.v1" if name == "ce_type" else value) for name, value in record.headers)
