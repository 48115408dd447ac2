"""What sealing costs: the same events stored and read with keys and without, in turns, in one run.

`python -m tests.benchmarks.sealing [--quick] [--json FILE]`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from uuid import UUID, uuid5

from schemas.events.memory import FactRecorded
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, give_keys, queries
from services.core.keys.aead import open_json, seal_json
from tests.benchmarks.measured import Measured
from tests.benchmarks.stage import bench_app

EXAMPLE = Path(__file__).parents[2] / "schemas/examples/fact.recorded.v1.json"
UNIT = 8  # events that one unit of work stores
PEOPLE = 50
SQL = queries(__file__, "sealing.sql")


def events(count: int, name: str) -> list[Envelope]:
    """Facts of so many people; each event with ids of its own and a text of 1,000 characters."""
    data = json.loads(EXAMPLE.read_text(encoding="utf-8"))["data"]
    made = []
    for number in range(count):
        id, who = uuid5(UUID(int=1), f"{name}{number}"), uuid5(UUID(int=2), str(number % PEOPLE))
        one = FactRecorded.model_validate({**data, "fact_id": id, "participant_id": who, "text": "word " * 200})
        made.append(first(one, id=id, source="bench", time=datetime(2026, 1, 1, tzinfo=UTC), workspace="bench"))
    return made


async def stored_and_read(app: App, some: Sequence[Envelope], *, sealed: bool) -> float:
    """Seconds an event: stored in units of work, then read again."""
    async with app.database.reading() as conn:
        give_keys(conn, app.keys if sealed else None)
        try:
            began = time.perf_counter()
            for begin in range(0, len(some), UNIT):
                async with conn.transaction():
                    await event_store.store(conn, list(some[begin : begin + UNIT]))
            await _read(conn, [one.id for one in some])
            return (time.perf_counter() - began) / len(some)
        finally:
            give_keys(conn, app.keys)


async def _read(conn: Connection, ids: list[UUID]) -> None:
    for begin in range(0, len(ids), UNIT):
        for row in await fetch_all(conn, SQL.some, {"ids": ids[begin : begin + UNIT]}):
            EventRow.of(**row).envelope()


def crypto(some: Sequence[Envelope], key: object) -> float:
    """CPU seconds an event for sealing and opening alone."""
    began = time.process_time()
    for one in some:
        sealed = seal_json(key, one.data.skeleton(), one.data.model_dump(mode="json"), of=str(one.id))  # type: ignore[arg-type]
        open_json(key, sealed)  # type: ignore[arg-type]
    whole = time.process_time() - began
    began = time.process_time()
    for one in some:
        one.data.skeleton()
        one.data.model_dump(mode="json")
    return (whole - (time.process_time() - began)) / len(some)


async def measure(*, quick: bool) -> list[Measured]:
    """Medians of rounds with and without keys, in turns."""
    count, rounds = (160, 5) if quick else (800, 9)
    async with bench_app() as app:
        with_keys, without = [], []
        for number in range(rounds):
            without.append(await stored_and_read(app, events(count, f"a{number}."), sealed=False))
            with_keys.append(await stored_and_read(app, events(count, f"b{number}."), sealed=True))
        people = frozenset({UUID(int=9)})
        async with app.database.transaction("bench") as conn:
            key = (await app.keys.hold(conn, "bench", [people]))[people]
        alone = crypto(events(count, "c"), key)
    sides = {"sealed ms": median(with_keys) * 1e3, "open ms": median(without) * 1e3}
    ratio = median(with_keys) / median(without)
    return [
        Measured("an event stored and read, sealed / in the clear", ratio, "", n=count * rounds, sides=sides),
        Measured("sealing and opening alone, CPU", alone * 1e6, "µs an event", n=count),
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    lines = asyncio.run(measure(quick=given.quick))
    for line in lines:
        print(f"{line.name}: {line.value:.3g} {line.unit} {line.sides or ''} (n = {line.n})")
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
