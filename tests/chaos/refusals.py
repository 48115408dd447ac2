"""The broker refuses whatever is written to a topic for a while: its `max.message.bytes` is one byte."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from datetime import timedelta

import psycopg
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from services.core.clock import until
from services.core.db import fetch_one
from services.operations.preparation import topic_specs
from tests.chaos.meeting import meeting
from tests.chaos.schedule import JUMPS_S, Fault
from tests.chaos.world import World

AGAIN_AFTER_S = 0.5
MEETS_S = 300.0  # how much longer it lasts where no event was refused yet
ANSWERED_FIRST = 0.15  # replies a mail that is offered; one often answers two
WAITS_S = 60.0  # for these: mails must still come when the topic is refused
MET = """
SELECT count(*) AS n FROM outbox o JOIN events e ON e.id = o.event_id WHERE o.attempts > 0 AND e.topic = %(topic)s"""

NEXT_TIMER = "SELECT min(due_at) AS due_at FROM timers"
SOON = timedelta(seconds=10)  # what is due by then comes by itself
SET_BACK = timedelta(seconds=-min(JUMPS_S))


async def refuse(world: World, fault: Fault, _: random.Random) -> None:
    """Nothing is taken for the topic, at least until an event has met that; then everything is again.

    A part of the mails is answered first: a turn that meets a refusal is a person's, and so is all that is written in its
    thread later. On a slow machine all first turns would meet it, and the run would prove nothing of replies.
    """
    await _some_are_answered(world)
    async with world.busy("refusal"):
        world.refused.add(fault.target)
        await _set(world, fault.target, {"max.message.bytes": "1"})
        try:
            await asyncio.sleep(fault.lasts_s)
            async with meeting(MEETS_S):
                while not await _has_met(world, fault.target):
                    await _bring_the_next_timer(world)
                    await asyncio.sleep(AGAIN_AFTER_S)
        finally:
            await _set(world, fault.target, {})


async def _some_are_answered(world: World) -> None:
    """Return when that part of the mails is answered, or when it takes too long: other faults may keep them waiting."""

    async def are_answered() -> bool:
        return len(world.server.accepted) >= ANSWERED_FIRST * len(world.mails)

    await until(are_answered, WAITS_S, every_s=AGAIN_AFTER_S)


async def _has_met(world: World, topic: str) -> bool:
    try:
        async with world.app.database.reading() as conn:
            row = await fetch_one(conn, MET, {"topic": topic})
    except psycopg.Error:
        return False
    return row is not None and bool(row["n"])


async def _bring_the_next_timer(world: World) -> None:
    """Where the clock was set back, quiet periods end hours later, and until then nobody may write to the topic.

    No further than the clock is ever set back: what is due in days is not to come now.
    """
    try:
        async with world.app.database.reading() as conn:
            row = await fetch_one(conn, NEXT_TIMER)
    except psycopg.Error:
        return
    ahead = row["due_at"] - world.app.now() if row and row["due_at"] else timedelta()
    if SOON < ahead <= SET_BACK:
        world.levers.set_clock(world.levers.offset + ahead)


async def _set(world: World, topic: str, configs: Mapping[str, str]) -> None:
    """Give the topic these settings on top of its own, and none besides; the broker is tried until it takes them."""
    kafka = world.app.settings.kafka
    name = kafka.topic_prefix + topic
    [spec] = [one for one in topic_specs(world.app.settings) if one.name == name]
    own = {"retention.ms": str(spec.retention_ms), "cleanup.policy": spec.cleanup}
    wanted = ConfigResource(ConfigResourceType.TOPIC, name, {**own, **configs})
    while True:
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka.brokers)
        try:
            await admin.start()
            [answer] = await admin.alter_configs([wanted])
            [(code, said, *_)] = answer.resources
            if code == 0:
                return
            print(f"{name} does not take {dict(configs)}: {code} {said}", flush=True)
        except (KafkaError, OSError, TimeoutError) as error:
            print(f"{name} does not take {dict(configs)} yet: {error!r}", flush=True)
        finally:
            await admin.close()
        await asyncio.sleep(AGAIN_AFTER_S)
