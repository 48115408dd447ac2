"""One OS process of `learn_facts`, driven by hand: every root event of a story, people drawn by lot, their own order kept."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services import learn_facts
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from tests.support.remembering import Memory, remembering

ROOTS = ("turn.reflected.v1", "fact.requested.v1")


async def work(memory: Memory, dice: random.Random) -> None:
    """Every root and what it causes."""
    rows = await memory.rows("SELECT * FROM events WHERE type = ANY(%(types)s) ORDER BY seq", types=list(ROOTS))
    queues: dict[object, list[Envelope]] = defaultdict(list)
    for row in rows:
        envelope = EventRow.of(**row).envelope()
        queues[envelope.data.subject_id()].append(envelope)
    while queues:
        person = dice.choice(sorted(queues, key=str))
        await memory.process(queues[person].pop(0))
        await _follow(memory, person)
        if not queues[person]:
            del queues[person]


async def _follow(memory: Memory, person: object) -> None:
    """What this person's root has caused, until nothing is left; whoever does it, it is done when this returns."""
    while todo := [one for one in await memory.waiting(learn_facts.PROCESSOR) if _caused(one, person)]:
        for envelope in todo:
            await memory.process(envelope)


def _caused(envelope: Envelope, person: object) -> bool:
    return envelope.data.subject_id() == person and envelope.type not in ROOTS


def worker(server: ForkServerContext, *given: Any) -> ForkServerProcess:
    """A process, forked from `server`, that does every root event: where, and the seed of its lots."""
    process = server.Process(target=_main, args=given)
    process.start()
    return process


def _main(stack: Endpoints, database: str, prefix: str, home: Path, seed: int) -> None:
    asyncio.run(_opened(stack, database, prefix, home, seed))


async def _opened(stack: Endpoints, database: str, prefix: str, home: Path, seed: int) -> None:
    async with remembering(stack, database, prefix, home) as memory:
        await work(memory, random.Random(seed))
