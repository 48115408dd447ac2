"""Faust's consumer with its offsets in our hands: it fetches and rebalances, the lanes say what may be committed.

Everything here runs on the main loop: Faust's consumer thread hops over before it calls these methods. It overrides
Faust 0.15.3 where running it has shown that mail would be lost:
- a stream acks events that it skips during a rebalance, and gaps are guarded off by one: so commits come from the
  lanes' watermarks alone, never from Faust's list of acks;
- a member that was thrown out of its group commits nothing, neither now nor when a commit that had begun before is
  tried again: a broker that lost its memory would believe it, and what is published there anew would be passed over;
- `wait_empty` waits for messages that the garbage collector has not met yet: so it waits for the lanes instead.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from aiokafka.errors import IllegalGenerationError
from aiokafka.protocol.commit import OffsetCommitRequest
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer
from faust.types import TP

from services.core.bus.delivery import Delivery
from services.core.bus.lanes import Lanes

Commit = Callable[[Any, Any], Awaitable[None]]


class LaneConsumer(Consumer):
    """Commits the watermarks that the lanes' acks have reached since the partitions were assigned."""

    def __init__(
        self, *args: Any, lanes: Lanes, on_assigned: Callable[[], None], fetch_wait_ms: int, **kwargs: Any
    ) -> None:
        self._lanes = lanes
        self._on_assigned = on_assigned
        self._fetch_wait_ms = fetch_wait_ms
        self._reached: dict[TP, int] = {}
        super().__init__(*args, **kwargs)

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _PromptThread(self, self._fetch_wait_ms, loop=self.loop, beacon=self.beacon)

    async def submit(self, message: Any) -> None:
        """Hand a message to the lanes; its offset is committed when they acknowledge it."""
        tp, following = message.tp, message.offset + 1
        epoch = self._reached
        await self._lanes.submit(to_delivery(message), lambda: epoch.__setitem__(tp, following))

    def ack(self, message: Any) -> bool:
        """Ignore Faust's own acks."""
        return False

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Drop what has not started before Faust waits for what runs and commits it; then nothing is left to commit.

        The client is a member again some time before we hear of its new partitions: what was reached in the old ones
        must not be committed in between.
        """
        self._lanes.revoked((tp.topic, tp.partition) for tp in revoked)
        await super().on_partitions_revoked(revoked)
        self._reached = {}

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Start a new epoch; acks of the old one go nowhere, and what it committed says nothing of a new broker."""
        self._reached = {}
        self._committed_offset.clear()
        self._lanes.assigned([(tp.topic, tp.partition) for tp in assigned])
        await super().on_partitions_assigned(assigned, generation_id)
        self._on_assigned()

    async def wait_empty(self) -> None:
        """Wait until nothing runs in the lanes, then commit; called when partitions go or the app stops."""
        self._lanes.revoked()
        await self._lanes.settled()
        await self.commit_and_end_transactions()

    def _filter_committable_offsets(self, tps: Iterable[TP]) -> dict[TP, int]:
        if not self._is_member():
            return {}
        return {tp: offset for tp, offset in self._reached.items() if self._should_commit(tp, offset)}

    def _is_member(self) -> bool:
        """Whether the group's coordinator knows us, as far as the client has heard."""
        return has_generation(self._thread._ensure_consumer()._coordinator)


class _PromptThread(AIOKafkaConsumerThread):
    """Faust lets a fetch wait 1.5 s, without a setting for it; the embedded broker answers after half of that.

    And its client tries a commit again for as long as the coordinator is away, with whatever generation it has by then.
    """

    def __init__(self, consumer: Consumer, fetch_wait_ms: int, **kwargs: Any) -> None:
        self._fetch_wait_ms = fetch_wait_ms
        super().__init__(consumer, **kwargs)

    async def on_start(self) -> None:
        """Put `commit_as_member` between the client's retries and its request."""
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator
        commit = coordinator._do_commit_offsets
        coordinator._do_commit_offsets = functools.partial(commit_as_member, coordinator, commit)

    def _create_worker_consumer(self, transport: Any) -> Any:
        made = super()._create_worker_consumer(transport)
        made._fetch_max_wait_ms = self._fetch_wait_ms
        return made


def has_generation(coordinator: Any) -> bool:
    """Whether the client is a member of its group, as far as it has heard."""
    return bool(coordinator.generation != OffsetCommitRequest.DEFAULT_GENERATION_ID)


async def commit_as_member(coordinator: Any, commit: Commit, assignment: Any, offsets: Any) -> None:
    """Commit what was reached under an assignment that still holds. Raises IllegalGenerationError where it does not."""
    if not (assignment.active and has_generation(coordinator)):
        raise IllegalGenerationError(coordinator.group_id)
    await commit(assignment, offsets)


def to_delivery(message: Any) -> Delivery:
    """Make a Delivery of a Faust message, its bytes untouched."""
    headers = message.headers or ()
    return Delivery(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        headers=tuple(headers.items() if isinstance(headers, Mapping) else headers),
        timestamp_ms=round((message.timestamp or 0) * 1000),
    )
