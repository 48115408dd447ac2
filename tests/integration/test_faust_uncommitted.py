"""A rebalance before a partition's first commit loses none of its records."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator

from deploy.local import Endpoints
from services.core.bus.delivery import Delivery
from services.core.bus.topics_admin import TopicSpec, ensure_topics
from services.core.errors import Temporary
from tests.support.bus import Desk, at_work, fill, total_lag, until, until_true

PARTITIONS = 24
RECORDS = 240
REBALANCES = 3
SLOW_S = 0.02  # what a busy coordinator takes to say what is committed in one partition


class _LateDesk(Desk):
    """A desk whose handler fails for as long as its database is away."""

    away = True

    async def _handle(self, delivery: Delivery) -> None:
        if _LateDesk.away:
            raise Temporary("the database is away")
        await super()._handle(delivery)


@pytest.mark.slow
async def test_a_rebalance_before_the_first_commit_lost_a_partitions_records(
    stack: Endpoints, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition of which nothing is committed is read from its beginning after every rebalance.

    Faust seeks to committed offsets alone, and throws away what its fetcher took while partitions were handed over.
    """
    ask = GroupCoordinator.fetch_committed_offsets

    async def slowly(coordinator: Any, partitions: Any) -> Any:
        await asyncio.sleep(SLOW_S * len(partitions))
        return await ask(coordinator, partitions)

    monkeypatch.setattr(GroupCoordinator, "fetch_committed_offsets", slowly)
    topic = topic_prefix + "events"
    await ensure_topics(stack.kafka, [TopicSpec(topic, PARTITIONS)])
    await fill(stack.kafka, topic, [b"%d" % n for n in range(RECORDS)], keys=RECORDS)
    _LateDesk.away = True
    group = topic_prefix + "group"
    steady = _LateDesk(stack.kafka, group, [topic], admitted=2 * RECORDS)
    async with at_work(steady):
        await steady.source.ready
        await until(lambda: steady.lanes.unfinished > 0)
        for _ in range(REBALANCES):
            joining = _LateDesk(stack.kafka, group, [topic], admitted=2 * RECORDS)
            async with at_work(joining):
                await joining.source.ready
                await asyncio.sleep(1)
        _LateDesk.away = False

        async def no_lag() -> bool:
            return await total_lag(stack.kafka, group, topic) == 0

        await until_true(no_lag)
    assert {int(value or b"") for value in steady.values} == set(range(RECORDS))
