"""How each kind of fault is done to a world. A fault that is over has left everything able to work again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import psycopg

from services.core.bus import event_store
from services.core.bus.codec import encode
from services.core.bus.delivery import Record
from services.core.bus.event_row import EventRow
from services.core.db import fetch_all
from services.core.keys import is_sealed
from tests.chaos.customers import bounce, forget
from tests.chaos.meeting import MetNobody
from tests.chaos.model_faults import outage, revoked
from tests.chaos.newer import newer_version, unheard_of
from tests.chaos.putting import put, renew
from tests.chaos.refusals import refuse
from tests.chaos.reordering import reorder
from tests.chaos.schedule import Fault
from tests.chaos.scripts import SmtpTrouble
from tests.chaos.world import World, labels_of
from tests.support.kafka import wipe_broker
from tests.support.scripted_replies import (
    cut_connection,
    failing,
    hang,
    malformed_json,
    malformed_tool_input,
    overloaded,
    rate_limited,
)
from tests.support.smtp_server import DROP, HANG

AGAIN_AFTER_S = 0.5
STORED = "SELECT * FROM events WHERE id NOT IN (SELECT event_id FROM outbox) ORDER BY random() LIMIT %(n)s"
MODEL = {
    "model-429": lambda: [rate_limited(0.2)],
    "model-529": lambda: [overloaded()],
    "model-timeout": lambda: [hang()],
    "model-garbage": lambda: [malformed_json(), malformed_tool_input("reply")],
    "model-cut": lambda: [cut_connection(), failing(500)],
}


async def do(world: World, fault: Fault, dice: random.Random) -> None:
    """Do the fault and return when it is over; what it met is counted in `world.felt`."""
    if fault.kind in MODEL:
        world.model.queue(*(MODEL[fault.kind]() * fault.count)[: fault.count])
        world.felt[fault.kind] += 1
    elif fault.kind.startswith("smtp"):
        _smtp(world, fault)
    else:
        with suppress(MetNobody):
            await WAYS[fault.kind](world, fault, dice)
            world.felt[fault.kind] += 1


async def kill(world: World, fault: Fault, _: random.Random) -> None:
    """kill -9 of a process; the supervisor starts it again."""
    async with world.busy(fault.target.partition("#")[0]):
        world.workers.running[fault.target].kill()


async def storm(world: World, fault: Fault, dice: random.Random) -> None:
    """Further processes of a consumer join, are killed or stopped, and others join."""
    async with world.busy(fault.target):
        for number in range(fault.count):
            label = f"{fault.target}#storm{number}"
            with world.held(label):
                worker = world.workers.start(fault.target, label=label)
                await asyncio.sleep(dice.uniform(4, 8))
                if number % 2:
                    worker.kill()
                else:
                    await asyncio.to_thread(worker.stop)
                del world.workers.running[label]


async def part(world: World, fault: Fault, _: random.Random) -> None:
    """kill -9 of the broker, Postgres or Valkey; it comes back after a while."""
    name = "kafka" if fault.kind == "broker" else fault.kind
    async with world.busy("stack"):
        world.stack.kill(name)
        await asyncio.sleep(fault.lasts_s)
        await asyncio.to_thread(world.stack.restart, name)


async def wipe(world: World, fault: Fault, _: random.Random) -> None:
    """kill -9 of the broker, which comes back without its data; what others had put on its log they put there again."""
    async with world.busy("refusal"), world.busy("log"), world.busy("stack"):
        await asyncio.to_thread(wipe_broker, world.stack)
        await renew(world)
        await put(world, world.foreign)


async def cut(world: World, fault: Fault, _: random.Random) -> None:
    """Every connection of a kind is reset."""
    world.proxies[fault.target].cut()


async def pause(world: World, fault: Fault, _: random.Random) -> None:
    """No byte goes through for a while."""
    world.proxies[fault.target].pause()
    await asyncio.sleep(fault.lasts_s)
    world.proxies[fault.target].resume()


async def clock(world: World, fault: Fault, _: random.Random) -> None:
    """The clock of every process jumps."""
    world.levers.set_clock(world.levers.offset + timedelta(seconds=float(fault.target.split()[0])))


async def blobs_full(world: World, fault: Fault, _: random.Random) -> None:
    """The blob store takes nothing more for a while."""
    world.levers.fill_store(True)
    await asyncio.sleep(fault.lasts_s)
    world.levers.fill_store(False)


async def duplicates(world: World, fault: Fault, dice: random.Random) -> None:
    """Events that are on the log come again, in another order, but those that nobody can read any more."""
    rows = await _stored(world, fault.count)
    dice.shuffle(rows)
    prefix = world.app.settings.kafka.topic_prefix
    await put(world, [encode(EventRow.of(**row).envelope(), topic_prefix=prefix) for row in rows])


async def _stored(world: World, count: int) -> list[event_store.EventRow]:
    while True:
        try:
            async with world.app.database.reading() as conn:
                return [row for row in await fetch_all(conn, STORED, {"n": count}) if not is_sealed(row["data"])]
        except psycopg.Error:
            await asyncio.sleep(AGAIN_AFTER_S)


async def poison(world: World, fault: Fault, dice: random.Random) -> None:
    """A record that nobody can read."""
    value = f"poison {dice.random()}".encode()
    record = Record(world.app.settings.kafka.topic_prefix + fault.target, b"poison", value)
    async with world.busy("log"):
        await put(world, [record])
        world.foreign.append(record)
        world.poison[fault.target].append(value)


async def shuffle(world: World, fault: Fault, dice: random.Random) -> None:
    """What waits for a consumer reaches it in another order.

    No topic is refused meanwhile: each attempt that fails halfway would put the whole backlog on the log once more. And
    nobody is killed before a refusal is over: the events that are to meet it may be theirs.
    """
    labels = labels_of(fault.target)
    async with world.busy("refusal"), world.busy("log"), world.busy(fault.target):
        with world.held(*labels):
            for label in labels:
                world.workers.running[label].kill()
            world.felt["reordered records"] += await reorder(world.app, fault.target, dice)


def _smtp(world: World, fault: Fault) -> None:
    trouble = world.server.script
    assert isinstance(trouble, SmtpTrouble)
    if fault.kind == "smtp-refuses":
        trouble.refuse += fault.count
    elif fault.kind == "smtp-never":
        trouble.never += fault.count
    else:
        trouble.stop_at += [(fault.target, HANG if fault.kind == "smtp-hangs" else DROP)] * fault.count


WAYS: dict[str, Callable[[World, Fault, random.Random], Awaitable[None]]] = {
    "kill": kill,
    "storm": storm,
    "broker": part,
    "database": part,
    "redis": part,
    "cut": cut,
    "pause": pause,
    "clock": clock,
    "blobs-full": blobs_full,
    "duplicates": duplicates,
    "poison": poison,
    "reorder": shuffle,
    "refused-topic": refuse,
    "unknown-type": unheard_of,
    "newer-version": newer_version,
    "model-outage": outage,
    "model-401": revoked,
    "wipe": wipe,
    "bounce": bounce,
    "erase": forget,
}
