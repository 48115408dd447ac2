"""What a consumer's client may still commit after its group has changed under it."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import IllegalGenerationError
from faust.types import TP

from services.core.bus.faust_consumer import LaneConsumer, commit_as_member

MEMBER = SimpleNamespace(generation=4, group_id="group")
THROWN_OUT = SimpleNamespace(generation=-1, group_id="group")
HELD, TAKEN = SimpleNamespace(active=True), SimpleNamespace(active=False)


async def committed(coordinator: Any, assignment: Any) -> list[Any]:
    requests: list[Any] = []

    async def commit(assignment: Any, offsets: Any) -> None:
        requests.append(offsets)

    await commit_as_member(coordinator, commit, assignment, {"turns": 7})
    return requests


async def test_a_member_commits_what_it_reached() -> None:
    """While the assignment holds, the request goes out as it is."""
    assert await committed(MEMBER, HELD) == [{"turns": 7}]


@pytest.mark.parametrize(("coordinator", "assignment"), [(THROWN_OUT, HELD), (MEMBER, TAKEN), (THROWN_OUT, TAKEN)])
async def test_a_commit_of_a_former_life_was_believed_by_a_broker_that_had_forgotten(
    coordinator: Any, assignment: Any
) -> None:
    """A commit that is tried again after its member was thrown out, or after it joined anew, does not go out."""
    with pytest.raises(IllegalGenerationError):
        await committed(coordinator, assignment)


@pytest.mark.parametrize("broker_took_it", [True, False])
async def test_an_offset_counted_as_committed_although_the_commit_failed(broker_took_it: bool) -> None:
    """What counts is what the broker took, of the partitions that are still ours."""
    ours, gone = TP("turns", 0), TP("turns", 1)
    consumer, asked = LaneConsumer.__new__(LaneConsumer), []

    async def commit(offsets: Mapping[TP, int]) -> bool:
        asked.append(dict(offsets))
        return broker_took_it

    vars(consumer).update(_committed_offset={ours: 5}, assignment=lambda: {ours}, _commit=commit)
    assert await consumer._commit_offsets({ours: 7, gone: 9}) is broker_took_it
    assert asked == [{ours: 7}]
    assert consumer._committed_offset == {ours: 7 if broker_took_it else 5}
    assert not await consumer._commit_offsets({gone: 9})
    assert len(asked) == 1


async def test_acks_that_faust_never_gets_are_not_looked_for() -> None:
    """Faust's detector of stuck partitions, which took longer than its interval on a busy machine, has nothing to do."""
    no_consumer = LaneConsumer.__new__(LaneConsumer)  # whatever it asked of itself would raise
    await no_consumer.verify_all_partitions_active()
