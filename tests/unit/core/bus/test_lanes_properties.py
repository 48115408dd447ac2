"""The rules of the lanes, driven by hypothesis: first the pure arithmetic, then the same on a real event loop."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from services.core.bus.delivery import Delivery, Partition
from services.core.bus.lane_state import LaneState, Phase, Ticket
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.retry import RetryPolicy
from services.core.errors import Temporary

ADMITTED = 6
PARTITIONS: list[Partition] = [("turns", 0), ("turns", 1), ("mail", 0)]
KEYS = st.sampled_from(["a", "b", "c"])


class LaneMachine(RuleBasedStateMachine):
    """A broker with three partitions, one consumer, and rebalances at any moment; it remembers what was finished."""

    def __init__(self) -> None:
        super().__init__()
        self.state = LaneState(ADMITTED)
        self.next_read: dict[Partition, int] = dict.fromkeys(PARTITIONS, 0)
        self.committed: dict[Partition, int] = dict.fromkeys(PARTITIONS, 0)
        self.finished: dict[Partition, set[int]] = defaultdict(set)
        self.started: dict[str, list[Ticket]] = defaultdict(list)
        self.queued: dict[str, list[Ticket]] = defaultdict(list)
        self.live: list[Ticket] = []

    @rule(partitions=st.sets(st.sampled_from(PARTITIONS)))
    def assign(self, partitions: set[Partition]) -> None:
        self._forget(self.state.open(partitions))
        for partition in partitions:
            self.next_read[partition] = self.committed[partition]

    @rule(partitions=st.sets(st.sampled_from(PARTITIONS)))
    def revoke(self, partitions: set[Partition]) -> None:
        self._forget(self.state.close(partitions))

    @rule(partition=st.sampled_from(PARTITIONS), key=KEYS)
    def admit(self, partition: Partition, key: str) -> None:
        if not self.state.is_open(partition) or not self.state.has_room(partition):
            return
        delivery = Delivery(*partition, self.next_read[partition], key.encode(), b"")
        self.next_read[partition] += 1
        ticket = self.state.admit(key, delivery, lambda: None)
        self.queued[key].append(ticket)
        self.live.append(ticket)

    @rule(partition=st.sampled_from(PARTITIONS))
    def skip(self, partition: Partition) -> None:
        if not self.state.is_open(partition) or not self.state.has_room(partition):
            return
        offset = self.next_read[partition]
        self.next_read[partition] += 1
        self.finished[partition].add(offset)
        self._acknowledge(self.state.skip(Delivery(*partition, offset, b"", b""), lambda: None))

    @rule(key=KEYS)
    def take(self, key: str) -> None:
        ticket = self.state.take_head(key)
        if ticket is not None:
            assert ticket is self.queued[key].pop(0), "a lane starts its deliveries in the order of admission"

    @precondition(lambda self: any(t.phase is Phase.NEXT for t in self.live))
    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        self.state.activate(data.draw(st.sampled_from([t for t in self.live if t.phase is Phase.NEXT])))

    @precondition(lambda self: any(t.phase is Phase.ACTIVE for t in self.live))
    @rule(data=st.data(), outcome=st.sampled_from(["done", "done", "fails"]))
    def end(self, data: st.DataObject, outcome: str) -> None:
        ticket = data.draw(st.sampled_from([t for t in self.live if t.phase is Phase.ACTIVE]))
        self.state.hold(ticket)
        if outcome == "done":
            self.finished[ticket.partition].add(ticket.delivery.offset)
            self.live.remove(ticket)
            self._acknowledge(self.state.finish(ticket))
        elif not self.state.is_current(ticket):
            self.live.remove(ticket)
            self.state.drop(ticket)

    def _acknowledge(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            partition, offset = ticket.partition, ticket.delivery.offset
            assert not ticket.orphan, "nothing of an older epoch is acknowledged"
            assert offset == self.committed[partition], "offsets are acknowledged once, in order, without a gap"
            assert offset in self.finished[partition], "no offset is acknowledged before its work is finished"
            self.committed[partition] = offset + 1

    def _forget(self, dropped: list[Ticket]) -> None:
        for ticket in dropped:
            assert ticket in self.live
            self.live.remove(ticket)
            if ticket in self.queued[str(ticket.lane)]:
                self.queued[str(ticket.lane)].remove(ticket)

    @invariant()
    def admission_is_bounded(self) -> None:
        assert self.state.unfinished == len(self.live) <= ADMITTED

    @invariant()
    def a_lane_has_one_delivery_under_way(self) -> None:
        under_way = [t.lane for t in self.live if t.phase in (Phase.NEXT, Phase.ACTIVE)]
        assert len(under_way) == len(set(under_way))

    @invariant()
    def committed_offsets_never_pass_unfinished_work(self) -> None:
        for partition, committed in self.committed.items():
            assert self.finished[partition] >= set(range(committed))


TestLaneMachine = LaneMachine.TestCase


@dataclass
class Log:
    """What a run of real lanes did."""

    handled: dict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))
    finished: dict[Partition, set[int]] = field(default_factory=lambda: defaultdict(set))
    committed: dict[Partition, int] = field(default_factory=lambda: defaultdict(int))
    dead_letters: list[int] = field(default_factory=list)
    attempts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    running: int = 0
    most_running: int = 0


class Script:
    """A handler that does to each delivery what its value says, and a give_up that fails at first."""

    def __init__(self) -> None:
        self.log = Log()

    async def handle(self, delivery: Delivery) -> None:
        log = self.log
        log.attempts[delivery.timestamp_ms] += 1
        log.running += 1
        log.most_running = max(log.most_running, log.running)
        try:
            await self._act(delivery, log.attempts[delivery.timestamp_ms])
        finally:
            log.running -= 1
        log.handled[delivery.key or b""].append(delivery.timestamp_ms)
        log.finished[delivery.source].add(delivery.offset)

    async def _act(self, delivery: Delivery, attempt: int) -> None:
        await asyncio.sleep(0.002 if delivery.value == b"slow" else 0)
        if delivery.value == b"poison":
            raise ValueError("poison")
        if delivery.value == b"flaky" and attempt < 3:
            raise Temporary("not yet")

    async def give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        seen = self.log.attempts[-1 - delivery.timestamp_ms] = self.log.attempts[-1 - delivery.timestamp_ms] + 1
        if seen == 1:
            raise Temporary("the dead letter topic does not answer")
        self.log.dead_letters.append(delivery.timestamp_ms)
        self.log.finished[delivery.source].add(delivery.offset)

    def ack(self, delivery: Delivery) -> None:
        assert self.log.committed[delivery.source] == delivery.offset
        assert delivery.offset in self.log.finished[delivery.source]
        self.log.committed[delivery.source] = delivery.offset + 1


LIMITS = LaneLimits(running=3, admitted=8, timeout_s=20, retry=RetryPolicy(0.001, 2, 0.004, budget_s=60))
DEEDS = st.sampled_from([b"ok", b"ok", b"slow", b"poison", b"flaky"])
EVENTS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([b"a", b"b", b"c", b"d"]), DEEDS), max_size=30)


def numbered(events: list[tuple[int, bytes, bytes]]) -> list[Delivery]:
    """Deliveries with their offsets; `timestamp_ms` numbers them in the order of admission."""
    following: dict[int, int] = defaultdict(int)
    out = []
    for number, (where, key, deed) in enumerate(events):
        topic, partition = PARTITIONS[where]
        out.append(Delivery(topic, partition, following[where], key, deed, (), number))
        following[where] += 1
    return out


def lanes_for(script: Script, limits: LaneLimits = LIMITS) -> Lanes:
    """Lanes by key with all partitions assigned."""
    lanes = Lanes(script.handle, lane_of=lambda d: d.key, give_up=script.give_up, limits=limits)
    lanes.assigned(PARTITIONS)
    return lanes


async def until_idle(lanes: Lanes) -> None:
    """Return when nothing is admitted; fail after some seconds."""
    async with asyncio.timeout(120):
        while lanes.unfinished:
            await asyncio.sleep(0.002)


@given(EVENTS)
def test_every_delivery_is_handled_or_given_up_in_order_by_key(events: list[tuple[int, bytes, bytes]]) -> None:
    """Poison, retries and failing dead letters lose nothing, reorder nothing and leave no offset behind."""
    script, deliveries = Script(), numbered(events)

    async def run() -> None:
        lanes = lanes_for(script)
        for delivery in deliveries:
            assert await lanes.submit(delivery, lambda d=delivery: script.ack(d))  # type: ignore[misc]
            assert lanes.unfinished <= LIMITS.admitted
        await until_idle(lanes)

    asyncio.run(run())
    log = script.log
    for key in {d.key for d in deliveries}:
        expected = [d.timestamp_ms for d in deliveries if d.key == key and d.value != b"poison"]
        assert log.handled[key or b""] == expected
    assert sorted(log.dead_letters) == [d.timestamp_ms for d in deliveries if d.value == b"poison"]
    assert log.most_running <= LIMITS.running
    assert log.committed == {p: sum(d.source == p for d in deliveries) for p in log.committed}
    assert sum(log.committed.values()) == len(deliveries)


@given(EVENTS, st.integers(0, 30), st.integers(0, 4))
def test_a_rebalance_in_the_middle_loses_nothing(
    events: list[tuple[int, bytes, bytes]], after: int, ticks: int
) -> None:
    """What a rebalance dropped is not acknowledged, and read again from the committed offset it all gets done."""
    script, deliveries = Script(), numbered(events)

    async def run() -> None:
        lanes = lanes_for(script)
        for delivery in deliveries[:after]:
            await lanes.submit(delivery, lambda d=delivery: script.ack(d))  # type: ignore[misc]
        for _ in range(ticks):
            await asyncio.sleep(0.001)
        lanes.revoked()
        await lanes.ended()
        committed = dict(script.log.committed)
        await asyncio.sleep(0.005)
        assert committed == script.log.committed, "after settled nothing is acknowledged"
        lanes.assigned(PARTITIONS)
        for delivery in deliveries:
            if delivery.offset >= committed.get(delivery.source, 0):
                await lanes.submit(delivery, lambda d=delivery: script.ack(d))  # type: ignore[misc]
        await until_idle(lanes)

    asyncio.run(run())
    assert sum(script.log.committed.values()) == len(deliveries)
