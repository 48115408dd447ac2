"""One OS process of `learn_facts`, driven by hand: every root event of a story, people drawn by lot, their own order kept.

`python -m tests.support.memory_worker ENDPOINTS DATABASE PREFIX HOME SEED`; ENDPOINTS as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

from deploy.local import Endpoints
from services import learn_facts
from services.core.bus import event_store as history
from services.core.bus.envelope import Envelope
from tests.support.remembering import Memory, remembering

ROOTS = ("turn.reflected.v1", "fact.requested.v1")


async def work(memory: Memory, dice: random.Random) -> int:
    """Every root and what it causes; how many roots."""
    rows = await memory.rows("SELECT * FROM events WHERE type = ANY(%(types)s) ORDER BY seq", types=list(ROOTS))
    queues: dict[object, list[Envelope]] = defaultdict(list)
    for row in rows:
        envelope = history.envelope(row)
        queues[envelope.data.subject_id()].append(envelope)
    while queues:
        person = dice.choice(sorted(queues, key=str))
        await memory.process(queues[person].pop(0))
        await _follow(memory, person)
        if not queues[person]:
            del queues[person]
    return len(rows)


async def _follow(memory: Memory, person: object) -> None:
    """What this person's root has caused, until nothing is left; whoever does it, it is done when this returns."""
    while todo := [one for one in await memory.waiting(learn_facts.PROCESSOR) if _caused(one, person)]:
        for envelope in todo:
            await memory.process(envelope)


def _caused(envelope: Envelope, person: object) -> bool:
    return envelope.data.subject_id() == person and envelope.type not in ROOTS


async def main(endpoints: str, database: str, prefix: str, home: str, seed: str) -> None:
    """Open the deployment and work."""
    given = json.loads(endpoints)
    stack = Endpoints(**{**given, "outbox": Path(given["outbox"])})
    async with remembering(stack, database, prefix, Path(home)) as memory:
        print(await work(memory, random.Random(int(seed))))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
