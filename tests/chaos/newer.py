"""Records of types that this version does not know, on the log among its own.

One that is nobody's is skipped. One of a newer version of a type that a consumer handles is held by that consumer
alone, `status` says so, and a person releases it as a dead letter. A copy of it at another place (what waits for a
consumer is given to it in another order, say) is held again, and released again.
"""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from uuid import UUID

import psycopg
from aiokafka.errors import KafkaError

from services.core.bus import held_records
from services.core.bus.delivery import Headers, Record
from services.core.db import fetch_all, fetch_one
from services.core.errors import Temporary
from services.operations.health.state import read_health
from tests.chaos.putting import put
from tests.chaos.schedule import NEWER, UNHEARD_OF, Fault
from tests.chaos.world import World
from tests.oracle.evidence import Newer

LOOK_EVERY_S = 0.5
SEEN_S = 600.0
HELD = """
SELECT id, consumer FROM held_records
WHERE event_id = ANY(%(ids)s) AND released_at IS NULL"""


async def unheard_of(world: World, fault: Fault, dice: random.Random) -> None:
    """A record of a type that is nobody's."""
    record = _record(world, fault.target, UNHEARD_OF, UUID(int=dice.getrandbits(128)))
    async with world.busy("log"):
        await put(world, [record])
        world.foreign.append(record)


async def newer_version(world: World, fault: Fault, dice: random.Random) -> None:
    """A record that only a newer version can read: held by whose it is, seen in the status, and released."""
    topic, holders = NEWER[fault.target]
    id = UUID(int=dice.getrandbits(128))
    record = _record(world, topic, fault.target, id)
    async with world.busy("log"):
        await put(world, [record])
        world.foreign.append(record)
    shown: set[str] = set()
    with suppress(TimeoutError):
        async with asyncio.timeout(SEEN_S):
            while shown < set(holders):
                await asyncio.sleep(LOOK_EVERY_S)
                shown |= await _shown(world, fault.target)
    await asyncio.sleep(fault.lasts_s)
    world.newer.append(Newer(topic, record.value or b"", frozenset(holders), frozenset(shown)))
    world.released.append(id)


async def release_all(world: World) -> None:
    """Release each record that a person has decided to release, wherever it is met again; until cancelled."""
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if not world.released:
            continue
        with suppress(psycopg.Error):
            async with world.app.database.reading() as conn:
                for row in await fetch_all(conn, HELD, {"ids": world.released}):
                    await fetch_one(conn, held_records.SQL.release, {"id": row["id"]})
                    world.felt["records released"] += 1


async def _shown(world: World, kind: str) -> set[str]:
    """The consumers of which the status says that they hold a record of this type."""
    try:
        health = await read_health(world.app)
    except (psycopg.Error, KafkaError, Temporary, OSError, TimeoutError):
        return set()
    said = " ".join(words for key, words in health.problems() if key.startswith("held "))
    return {row["consumer"] for row in health.held if row["type"] == kind and f"{row['consumer']} holds" in said}


def _record(world: World, topic: str, kind: str, id: UUID) -> Record:
    given = {
        "specversion": "1.0", "id": str(id), "type": kind, "source": "/correspondent/a-later-release",
        "time": world.app.now().isoformat(), "workspace": world.app.settings.workspace, "correlationid": str(id),
    }  # fmt: skip
    headers: Headers = tuple((f"ce_{name}", value.encode()) for name, value in given.items())
    value = json.dumps({"of": "a later release", "id": str(id)}).encode()
    return Record(world.app.settings.kafka.topic_prefix + topic, str(id).encode(), value, headers)
