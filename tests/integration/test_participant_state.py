"""What decisions carry on with is what the tables say: evolve and apply are twins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given

from deploy.local import Endpoints
from schemas.events.retention import MemoryRetentionDue
from services import learn_facts
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.unit import Unit
from services.learn_facts.evolve import evolve
from services.learn_facts.load import load
from services.learn_facts.participant import Participant
from tests.support.participant_histories import ACROSS_KEYS, KEPT_DAYS, OF_EACH, Story, histories
from tests.support.remembering import Memory, day, remembering

EVENTS = """
    SELECT * FROM events WHERE aggregate = 'participant' AND aggregate_id = %(id)s AND version > %(version)s
    ORDER BY version
"""


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_evolve_gives_what_load_reads_after_apply(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Over random histories: each event, evolved into the state before it, is the state that the tables then hold."""
    numbers = count(1)

    with asyncio.Runner() as loop:
        opened = remembering(stack, database, topic_prefix, tmp_path, retention={"facts_days": KEPT_DAYS})
        memory = loop.run(opened.__aenter__())

        @example(OF_EACH)
        @example(ACROSS_KEYS)
        @given(histories)
        def holds(steps: Sequence[Any]) -> None:
            loop.run(_carried(Story(memory, f"story{next(numbers)}"), steps))

        holds()
        kinds = {row["type"] for row in loop.run(memory.rows("SELECT DISTINCT type FROM events"))}
        assert {"fact.marked_stale.v1", "fact.restored.v1", "fact.merged.v1", "fact.unmerged.v1"} <= kinds
        assert "participant.brief_diverged.v1" in kinds
        loop.run(opened.__aexit__(None, None, None))


async def _carried(story: Story, steps: Sequence[Any]) -> None:
    carried = {id: Participant(id) for id in story.ids}
    versions = dict.fromkeys(story.ids, 0)
    await story.begin()
    for step in steps:
        await story.play(step)
        for id in story.ids:
            for event in await _events(story.memory, id, versions[id]):
                carried[id] = evolve(carried[id], event.data, event.time)
                versions[id] = event.version or 0
            assert carried[id] == await _loaded(story.memory, id), step


async def _events(memory: Memory, id: UUID, version: int) -> list[Envelope]:
    return [EventRow.of(**row).envelope() for row in await memory.rows(EVENTS, id=id, version=version)]


async def _loaded(memory: Memory, id: UUID) -> Participant:
    async with memory.app.database.transaction(memory.workspace) as conn:
        cause = memory.event(MemoryRetentionDue(participant_id=id, due_at=day(0)), day(0))
        return await load(Unit(conn, cause, "learn_facts", "", learn_facts.PROCESSOR.appliers), id)
