"""Faust's consumer with its offsets in our hands: it fetches and rebalances, the lanes say what may be committed.

Everything here runs on the main loop: Faust's consumer thread hops over before it calls these methods. It overrides
Faust 0.15.3 where running it has shown that mail would be lost:
- a stream acks events that it skips during a rebalance, and gaps are guarded off by one: so commits come from the
  lanes' watermarks alone, never from Faust's list of acks;
- a member that was thrown out of its group commits nothing, neither now nor when a commit that had begun before is
  tried again: a broker that lost its memory would believe it, and what is published there again would be skipped;
- its detector of stuck partitions looks at Faust's own acks, of which there are none here; on a busy machine it only
  says that it overlaps with itself;
- `wait_empty` waits for messages that the garbage collector has not met yet: so it waits for the lanes instead;
- what is fetched while partitions are handed over is thrown away, and only partitions with a committed offset are read
  again: so one without a commit is read from its beginning (`seek_everywhere`), and whatever else may leave out a
  record, `Continuity` sees the gap and the app starts again from what is committed;
- it looks for offsets to commit every second, and its two threads wake each other, although nothing happened: here a
  commit follows an acknowledgement, and nobody is woken;
- it stops the main loop, and every other consumer with it, until the thread of the one that stops has ended: a client
  that waits for its coordinator took 95 s for that;
- an offset counts as committed although the commit failed: so only one that was made counts.

It overrides two more for what they cost: records go to the lanes as they are fetched, not by way of a stream and an
agent, and no table is drawn of what is committed.

And one of the embedded broker: a group that joins again within its generation, as when its topics were made meanwhile,
is given what its leader assigned before, be it nothing. So a leader that is not given what it assigned starts again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, cast

from aiokafka.errors import IllegalGenerationError, IllegalStateError
from aiokafka.protocol.commit import OffsetCommitRequest
from aiokafka.structs import OffsetAndMetadata
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer
from faust.types import TP
from mode.threads import WorkerThread

import services.core.bus.broker_client  # noqa: F401
from services.core.bus.attempt import attempt
from services.core.bus.bell import Listen
from services.core.bus.continuity import Continuity, Gap, RecordsLeftOut
from services.core.bus.delivery import Delivery
from services.core.bus.fetch_pace import LOOK_EVERY_S, FetchPace, PacedFetcher
from services.core.bus.lanes import Lanes
from services.core.clock import monotonic

log = logging.getLogger(__name__)

LAST_COMMIT_S = 5.0
GATHER_S = 0.3  # so long further gaps are looked for before all partitions are read again
ENDED_EVERY_S = 0.02

Commit = Callable[[Any, Any], Awaitable[None]]


class NotAsAssigned(Exception):
    """The broker gave a group's leader other partitions than it had assigned to itself."""


class LaneConsumer(Consumer):
    """Commits the watermarks that the lanes' acks have reached since the partitions were assigned."""

    def __init__(
        self,
        *args: Any,
        lanes: Lanes,
        on_assigned: Callable[[LaneConsumer], None],
        pace: FetchPace,
        listen: Listen,
        topics: Collection[str],
        known_gaps: set[Gap],
        generations: Callable[[], Mapping[str, int]] = dict,
        **kwargs: Any,
    ) -> None:
        self._lanes = lanes
        self._continuity = Continuity(known_gaps)
        self._on_assigned = on_assigned
        self._pace, self._listen, self._topics = pace, listen, topics
        self._generations = generations
        self._reached: dict[TP, int] = {}
        self._moved = asyncio.Event()  # a watermark did, or it could not be committed
        self._reads_again = False  # everything will be, for a gap
        super().__init__(*args, **kwargs)

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        where = {"loop": self.loop, "beacon": self.beacon}
        return _PacedThread(self, self._pace, self._listen, self._topics, self._lanes.has_plenty, **where)

    async def submit(self, message: Any) -> None:
        """Hand a message to the lanes; its offset is committed when they acknowledge it.

        One that they have been handed since the partitions were assigned is not handed to them again. Where records
        before it were left out the app crashes soon, so that it starts again from what is committed.
        """
        tp, following = message.tp, message.offset + 1
        epoch = self._reached  # of this assignment: an ack that comes after a rebalance reaches nothing
        try:
            if not self._continuity.is_next(tp, message.offset):
                return
        except RecordsLeftOut as error:
            if not self._reads_again:
                self._reads_again = True
                self.add_future(self._read_again(error))
            return

        def reach() -> None:
            epoch[tp] = following
            self._moved.set()

        await self._lanes.submit(to_delivery(message), reach)

    async def _read_again(self, error: RecordsLeftOut) -> None:
        """Crash, once the gaps of other partitions were met, too: each would cost a start of its own."""
        await asyncio.sleep(GATHER_S)
        await self.crash(error)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Any]]:  # noqa: ASYNC109 - Faust's signature
        """Hand what was fetched to the lanes, and nothing on to Faust: its way to an agent costs two tasks a record."""
        left: tuple[tuple[TP, Any], ...] = ()
        async for _, message in super().getmany(timeout):
            await self.submit(message)
        for one in left:
            yield one

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
        cast(_PacedThread, self._thread).generations = self._generations()
        self._continuity.start()
        self._committed_offset.clear()
        own = cast(_PacedThread, self._thread).assigned_to_itself(generation_id)
        if own is not None and own != assigned:
            await self.crash(NotAsAssigned(f"{len(assigned)} partitions were given, {len(own)} were assigned"))
            return
        self._lanes.assigned([(tp.topic, tp.partition) for tp in assigned])
        await super().on_partitions_assigned(assigned, generation_id)
        self._on_assigned(self)

    async def perform_seek(self) -> None:
        """Go to what is committed in each partition, else to its beginning; called when partitions were assigned.

        Faust calls it, too, where it threw away what it had fetched, and only warns where that fails.
        """
        try:
            await super().perform_seek()
        except IllegalStateError:  # the partitions are being handed over again
            raise
        except Exception as error:
            await self.crash(error)
            raise
        self._continuity.begin_at(self._committed_offset)

    @Consumer.task
    async def _commit_handler(self) -> None:
        """Commit what was reached, once in an interval; what could not be committed is tried again in the next."""
        while not self.should_stop:
            await self.wait(self._moved.wait())
            self._moved.clear()
            await self.sleep(self.commit_interval)
            await self.commit()
            if self._uncommitted():
                self._moved.set()

    async def verify_all_partitions_active(self) -> None:
        """Look at no acks of Faust's: how far a group is behind is read from its committed offsets."""

    @Consumer.task
    async def _commit_livelock_detector(self) -> None:
        """Keep no timer for that."""

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        """Commit what is still assigned; Faust's own draws a table of it first, for a log that nobody keeps."""
        assigned = self.assignment()
        mine = {tp: offset for tp, offset in offsets.items() if tp in assigned}
        done = bool(mine) and bool(await self._commit(mine))
        if done:
            self._committed_offset.update(mine)
        return done

    async def trouble(self, within_s: float) -> str:
        """Why this consumer will do nothing more, "" where it works."""
        thread = cast(_PacedThread, self._thread)
        if not await thread.answers(within_s):
            return "its thread does not answer"
        client: Any = thread._consumer
        tasks = (client._fetcher._fetch_task, client._coordinator._coordination_task) if client else ()
        return "its client has ended" if any(task.done() for task in tasks) else ""

    def abandon(self) -> None:
        """End the client with all it does, wherever it hangs: the group's coordinator hears of us no more."""
        cast(_PacedThread, self._thread).abandon()

    def lag(self) -> int:
        """Records of the assigned partitions that are not done, as far as the broker has said."""
        client = self._thread._consumer
        assigned = client._subscription.assigned_partitions() if client else ()
        return sum(self._lag_of(client, tp) for tp in assigned)

    def _lag_of(self, client: Any, tp: TP) -> int:
        try:
            state = client._subscription.subscription.assignment.state_value(tp)
        except (AttributeError, KeyError):  # handed over right now, by another thread
            return 0
        done = self._reached.get(tp, self._committed_offset.get(tp))
        done = done if done is not None else state._position
        return max(0, state.highwater - done) if state.highwater is not None and done is not None else 0

    async def wait_empty(self) -> None:
        """Wait until nothing runs in the lanes, then commit; called when partitions go or the app stops.

        What is not committed is read again. Faust would not stop its client where this fails, or waits for it in vain.
        """
        self._lanes.revoked()
        await self._lanes.ended()
        if self._thread.should_stop:  # it would never answer
            return
        if error := await attempt(self.commit_and_end_transactions, (), LAST_COMMIT_S):
            log.warning("consumer %s could not commit: %r", self.app.conf.id, error)

    def _filter_committable_offsets(self, tps: Iterable[TP]) -> dict[TP, int]:
        return self._uncommitted() if self._is_member() else {}

    def _uncommitted(self) -> dict[TP, int]:
        return {tp: offset for tp, offset in self._reached.items() if self._should_commit(tp, offset)}

    def _is_member(self) -> bool:
        """Whether the group's coordinator knows us, as far as the client has heard."""
        client = self._thread._consumer
        return client is not None and has_generation(client._coordinator)


class _Worker(WorkerThread):
    """A thread that is waited for by `_PacedThread.stop`, and by nobody when the process ends."""

    def __init__(self, service: Any, **kwargs: Any) -> None:
        super().__init__(service, **kwargs)
        self.daemon = True

    def stop(self) -> None:
        """Do not wait: the main loop would stand still."""


class _PacedThread(AIOKafkaConsumerThread):
    """The thread in which aiokafka's client lives: it fetches at our pace, and commits as a member alone.

    Faust lets every fetch wait 1.5 s, without a setting for it. And its client tries a commit again for as long as the
    coordinator is away, with whatever generation it has by then. `generations` are the topics' when the partitions were
    assigned: positions are sought and committed in these.
    """

    Worker = _Worker
    generations: Mapping[str, int] = MappingProxyType({})

    def __init__(
        self,
        consumer: Consumer,
        pace: FetchPace,
        listen: Listen,
        topics: Collection[str],
        plenty: Callable[[], bool],
        **kwargs: Any,
    ) -> None:
        self._pace, self._listen, self._topics, self._plenty = pace, listen, topics, plenty
        self._deaf: Callable[[], None] = lambda: None
        self._own: tuple[int, set[TP]] | None = None  # what it assigned to itself as a leader, in which generation
        super().__init__(consumer, **kwargs)

    @AIOKafkaConsumerThread.task
    async def _thread_keepalive(self) -> None:
        """Keep no timer: what other threads want of this one wakes its loop."""

    async def _keepalive2(self) -> None:
        """Keep no timer on the main loop either.

        Mode's own says that the *thread* does not respond whenever the *main* loop was busy for three seconds, since it
        looks only at the time of its own last look. Whether the thread responds is asked by `answers`.
        """

    async def answers(self, timeout_s: float) -> bool:
        """Whether the thread's loop does what it is given."""
        if self.thread_loop.is_closed():
            return False
        asked = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.thread_loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(asked), timeout_s)
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Stop the client, and return when the thread has ended."""
        await super().stop()
        while self._thread is not None and self._thread.is_alive():  # noqa: ASYNC110 - a thread that ends tells nobody
            await asyncio.sleep(ENDED_EVERY_S)

    def abandon(self) -> None:
        """Cancel every task of the thread's loop, its own service among them; the thread ends when they have."""
        with suppress(RuntimeError):  # it has ended already
            self.thread_loop.call_soon_threadsafe(_cancel_all, self.thread_loop)

    def _start_thread(self) -> None:
        try:
            super()._start_thread()
        except asyncio.CancelledError:  # `abandon`
            self.set_shutdown()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Set every partition's position; what is committed, where something is."""
        found: Mapping[TP, int] = await self.call_thread(seek_everywhere, self._ensure_consumer(), self.generations)
        return found

    def assigned_to_itself(self, generation: int) -> set[TP] | None:
        """What this member assigned to itself as the leader of that generation; None where it was not the leader."""
        return self._own[1] if self._own is not None and self._own[0] == generation else None

    async def on_start(self) -> None:
        """Put `commit_as_member` between the client's retries and its request, and our pace upon its fetches.

        What it assigns as a leader is noted.
        """
        await super().on_start()
        consumer = self._ensure_consumer()
        coordinator = consumer._coordinator
        commit = coordinator._do_commit_offsets

        async def stamped(assignment: Any, offsets: Any) -> None:
            await commit_as_member(coordinator, commit, assignment, in_generation(offsets, self.generations))

        coordinator._do_commit_offsets = stamped
        assign = coordinator._perform_assignment

        async def noted(joined: Any) -> Any:
            assignments = await assign(joined)
            own = {TP(*place) for place in assignments[coordinator.member_id].partitions()}
            self._own = coordinator.generation, own
            return assignments

        coordinator._perform_assignment = noted
        paced = PacedFetcher(consumer._fetcher, self._pace, monotonic, self._plenty)
        if self._pace.quiet_pause_s:
            self._deaf = self._listen(self._topics, paced.wake)

    async def on_thread_stop(self) -> None:
        """The bell is heard no more."""
        self._deaf()
        self._deaf = lambda: None
        await super().on_thread_stop()

    def _create_worker_consumer(self, transport: Any) -> Any:
        made = super()._create_worker_consumer(transport)
        made._consumer_timeout = LOOK_EVERY_S
        return made


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


async def seek_everywhere(consumer: Any, generations: Mapping[str, int]) -> dict[Any, int | None]:
    """Have each assigned partition read from its committed offset, else from its beginning; the committed offsets.

    aiokafka's `seek_to_committed` asks for one partition after the other, and leaves those without a commit where
    they are. A commit of another generation of the topic says nothing about this one. Raises `TimeoutError` where the
    broker does not say where a partition begins, and `IllegalStateError` where they are handed over again meanwhile.
    """
    partitions, handed_over = consumer.assignment(), consumer._subscription.subscription.assignment.unassign_future
    found = await consumer._coordinator.fetch_committed_offsets(partitions)
    committed = {
        place: found[place].offset
        for place in partitions
        if place in found and found[place].offset >= 0 and found[place].metadata == mark(generations, place.topic)
    }
    for place, offset in committed.items():
        consumer.seek(place, offset)
    rest = [place for place in partitions if place not in committed]
    if rest and not await consumer.seek_to_beginning(*rest):
        if handed_over.done():
            raise IllegalStateError("the partitions are handed over again")
        raise TimeoutError("the broker did not say where its partitions begin")
    return {place: committed.get(place) for place in partitions}


def mark(generations: Mapping[str, int], topic: str) -> str:
    """The metadata of a commit; that of a topic that was never lost is empty."""
    generation = generations.get(topic, 0)
    return f"log {generation}" if generation else ""


def in_generation(offsets: Mapping[Any, Any], generations: Mapping[str, int]) -> dict[Any, Any]:
    """The offsets to commit, marked with the generation of the topic that they were reached in."""
    return {place: OffsetAndMetadata(at.offset, mark(generations, place.topic)) for place, at in offsets.items()}


def has_generation(coordinator: Any) -> bool:
    """Whether the client is a member of its group, as far as it has heard; before its start it has no coordinator."""
    return coordinator is not None and coordinator.generation != OffsetCommitRequest.DEFAULT_GENERATION_ID


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
