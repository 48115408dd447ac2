"""Single rules of the lanes that a property would hide."""

import asyncio

import psycopg
import pytest

from services.core.bus.delivery import Delivery
from services.core.bus.lanes import LaneLimits, Lanes
from services.core.bus.retry import RetryPolicy
from services.core.errors import ModelUnavailable, Temporary

QUICK = RetryPolicy(first_pause_s=0.001, longest_pause_s=0.002, budget_s=0.05)
HOME = ("turns", 0)


class Desk:
    """Lanes with a handler that a test opens the door for, by key."""

    def __init__(self, limits: LaneLimits, **options: object) -> None:
        self.doors: dict[bytes, asyncio.Event] = {}
        self.started: list[int] = []
        self.acked: list[int] = []
        self.given_up: list[tuple[int, str, int]] = []
        self.offset = 0
        self.lanes = Lanes(self.handle, lane_of=lambda d: d.key, give_up=self.give_up, limits=limits, **options)  # type: ignore[arg-type]
        self.lanes.assigned([HOME])

    async def handle(self, delivery: Delivery) -> None:
        self.started.append(delivery.offset)
        await self.doors.setdefault(delivery.key or b"", asyncio.Event()).wait()

    async def give_up(self, delivery: Delivery, error: BaseException, attempts: int) -> None:
        self.given_up.append((delivery.offset, type(error).__name__, attempts))

    async def submit(self, key: bytes) -> bool:
        offset, self.offset = self.offset, self.offset + 1
        return await self.lanes.submit(Delivery(*HOME, offset, key, b""), lambda: self.acked.append(offset))

    def open(self, key: bytes) -> None:
        self.doors.setdefault(key, asyncio.Event()).set()


async def soon() -> None:
    """Let everything that can run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_what_a_consumer_has_no_handler_for_cost_a_task_and_waited_in_a_lane() -> None:
    """It is done at once, behind whatever its lane does, and acknowledged when all before it is."""
    desk = Desk(LaneLimits(running=8), skips=lambda delivery: delivery.key == b"not ours")
    for key in (b"not ours", b"thread", b"not ours"):
        assert await desk.submit(key)
    await soon()
    assert (desk.started, desk.acked, desk.lanes.unfinished) == ([1], [0], 1)
    desk.open(b"thread")
    await soon()
    assert desk.acked == [0, 1, 2]


async def test_a_record_whose_headers_cannot_be_read_ended_its_consumer() -> None:
    """Whoever asks whether it is skipped may fail; then it is handled like any other, and given up by that."""
    desk = Desk(LaneLimits(running=8), skips=lambda delivery: bool(delivery.headers[0]))
    assert await desk.submit(b"thread")
    desk.open(b"thread")
    await soon()
    assert (desk.started, desk.acked) == ([0], [0])


async def test_the_events_of_one_mail_were_plenty_and_its_reply_waited_for_the_next_look_at_the_log() -> None:
    """However many of one lane or two are in hand, the next may come at once; with further lanes it need not."""
    desk = Desk(LaneLimits(running=8))
    for _ in range(8):
        await desk.submit(b"thread")
    await desk.submit(b"sender")
    assert not desk.lanes.has_plenty()
    await desk.submit(b"another mail's thread")
    assert desk.lanes.has_plenty()
    for key in (b"thread", b"sender", b"another mail's thread"):
        desk.open(key)
    await soon()
    assert not desk.lanes.has_plenty()


async def test_a_stuck_lane_leaves_the_others_running_and_the_offset_behind() -> None:
    """Work behind an unfinished offset is done but not acknowledged until that one is."""
    desk = Desk(LaneLimits(running=2))
    desk.open(b"b")
    for key in (b"a", b"b", b"b", b"b"):
        await desk.submit(key)
    await soon()
    assert (desk.started, desk.acked) == ([0, 1, 2, 3], [])
    desk.open(b"a")
    await soon()
    assert desk.acked == [0, 1, 2, 3]


async def test_submit_waits_for_room() -> None:
    """With `admitted` deliveries unfinished, the next one waits until one is done."""
    desk = Desk(LaneLimits(running=1, admitted=2))
    await desk.submit(b"a")
    await desk.submit(b"b")
    third = asyncio.create_task(desk.submit(b"c"))
    await soon()
    assert not third.done()
    desk.open(b"a")
    assert await third


async def test_a_submit_that_waits_for_room_is_refused_when_its_partition_goes() -> None:
    """A revocation wakes the waiting consumer, which must not stall the rebalance."""
    desk = Desk(LaneLimits(running=1, admitted=1))
    await desk.submit(b"a")
    waiting = asyncio.create_task(desk.submit(b"b"))
    await soon()
    desk.lanes.revoked()
    assert await waiting is False


async def test_a_handler_that_hangs_is_cut_and_given_up_within_the_budget() -> None:
    """A handler that never returns is cancelled at its timeout, tried again while the budget lasts, then given up."""
    desk = Desk(LaneLimits(timeout_s=0.02, retry=QUICK))
    await desk.submit(b"never")
    async with asyncio.timeout(120):
        while not desk.acked:
            await asyncio.sleep(0.005)
    [(offset, error, attempts)] = desk.given_up
    assert (offset, error) == (0, "TimeoutError")
    assert attempts >= 2


async def test_what_runs_at_a_revocation_may_end_and_be_acknowledged() -> None:
    """Running work ends and is acknowledged; what waited behind it in its lane is dropped."""
    desk = Desk(LaneLimits())
    await desk.submit(b"a")
    await desk.submit(b"a")
    await soon()
    desk.lanes.revoked()
    desk.open(b"a")
    await desk.lanes.ended()
    assert (desk.started, desk.acked, desk.lanes.unfinished) == ([0], [0], 0)


async def test_work_of_an_older_epoch_is_never_acknowledged() -> None:
    """A handler that outlives the new assignment ends without moving the offset."""
    desk = Desk(LaneLimits())
    await desk.submit(b"a")
    await soon()
    desk.lanes.revoked()
    desk.lanes.assigned([HOME])
    desk.open(b"a")
    await soon()
    assert (desk.started, desk.acked) == ([0], [])


async def test_a_closed_gate_holds_its_own_deliveries_only() -> None:
    """Deliveries at the gate take no running slot, and go on when it opens."""
    gate = asyncio.Event()

    async def wait_if_a(delivery: Delivery) -> None:
        if delivery.key == b"a":
            await gate.wait()

    desk = Desk(LaneLimits(running=1), gate=wait_if_a)
    desk.open(b"a")
    desk.open(b"b")
    for key in (b"a", b"b", b"b"):
        await desk.submit(key)
    await soon()
    assert desk.started == [1, 2]
    gate.set()
    await soon()
    assert (desk.started, desk.acked) == ([1, 2, 0], [0, 1, 2])


async def test_a_delivery_is_not_acknowledged_while_giving_up_fails() -> None:
    """When the dead letter cannot be written, it is tried again and the offset stays."""
    failing, acked = True, []

    async def poison(_: Delivery) -> None:
        raise ValueError("poison")

    async def give_up(*_: object) -> None:
        if failing:
            raise Temporary("no broker")

    lanes = Lanes(poison, lane_of=lambda d: d.key, give_up=give_up, limits=LaneLimits(retry=QUICK))
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), lambda: acked.append(0))
    await asyncio.sleep(0.02)
    assert acked == []
    failing = False
    async with asyncio.timeout(120):
        while lanes.unfinished:
            await asyncio.sleep(0.002)
    assert acked == [0]


async def test_a_handler_that_used_up_its_first_attempt_is_tried_again() -> None:
    """The retries' budget begins when the first attempt has failed, however long that took."""
    calls, acked = 0, []

    async def slow_at_first(_: Delivery) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await asyncio.Event().wait()

    async def give_up(*_: object) -> None:
        raise AssertionError("it was handled at the second attempt")

    limits = LaneLimits(timeout_s=0.2, retry=RetryPolicy(0.001, 2, 0.002, budget_s=0.1))
    lanes = Lanes(slow_at_first, lane_of=lambda d: d.key, give_up=give_up, limits=limits)
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), lambda: acked.append(0))
    async with asyncio.timeout(120):
        while lanes.unfinished:
            await asyncio.sleep(0.005)
    assert (calls, acked) == (2, [0])


async def test_what_fails_after_a_revocation_is_left_to_the_next_owner() -> None:
    """A rebalance waits for one attempt, and for no dead letter behind it."""
    door, given_up, acked = asyncio.Event(), [], []

    async def poison(_: Delivery) -> None:
        await door.wait()
        raise ValueError("poison")

    async def give_up(delivery: Delivery, *_: object) -> None:
        given_up.append(delivery)

    lanes = Lanes(poison, lane_of=lambda d: d.key, give_up=give_up)
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), lambda: acked.append(0))
    await soon()
    lanes.revoked()
    door.set()
    await lanes.ended()
    assert (given_up, acked, lanes.unfinished) == ([], [], 0)


@pytest.mark.parametrize(("opened", "in_time"), [(True, True), (False, False)])
async def test_drain_lets_what_runs_end_and_says_whether_it_did(opened: bool, in_time: bool) -> None:
    """Drain acknowledges what ends in time, cancels the rest, and admits nothing afterwards."""
    desk = Desk(LaneLimits())
    await desk.submit(b"a")
    await soon()
    if opened:
        asyncio.get_running_loop().call_later(0.01, desk.open, b"a")
    assert await desk.lanes.drain(0.05 if not opened else 10) is in_time
    await soon()
    desk.lanes.assigned([HOME])
    assert await desk.submit(b"b") is False
    assert (desk.acked, desk.lanes.unfinished) == ([0] if opened else [], 0)


async def test_a_delivery_revoked_before_its_first_step_does_not_stall_the_rebalance() -> None:
    """A revocation in the same turn of the loop as the admission settles at once."""
    desk = Desk(LaneLimits())
    await desk.submit(b"a")
    desk.lanes.revoked()
    async with asyncio.timeout(120):
        await desk.lanes.ended()
    assert (desk.started, desk.acked) == ([], [])


async def test_an_outage_of_the_model_used_up_the_retries_of_its_turns() -> None:
    """What is away is waited for, for hundreds of attempts, and nothing is given up; then the work goes on."""
    answers = iter([*[ModelUnavailable("overloaded")] * 300, None])
    given_up: list[int] = []

    async def handle(delivery: Delivery) -> None:
        error = next(answers)
        if error is not None:
            raise error

    async def give_up(delivery: Delivery, error: BaseException, attempts: int) -> None:
        given_up.append(delivery.offset)

    done = asyncio.Event()
    limits = LaneLimits(retry=RetryPolicy(first_pause_s=0.0001, longest_pause_s=0.0001, budget_s=0.001))
    lanes = Lanes(handle, lane_of=lambda d: d.key, give_up=give_up, limits=limits)
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), done.set)
    async with asyncio.timeout(120):
        await done.wait()
    assert given_up == []


async def test_handlers_that_starved_each_other_all_failed_together() -> None:
    """On a machine that can do a few at a time, all that came at once is done late: nothing is given up."""
    running: set[int] = set()
    done: list[int] = []
    given_up: list[int] = []

    async def starving(delivery: Delivery) -> None:
        running.add(delivery.offset)
        try:
            progress = 0.0
            while progress < 10:  # a tenth of a second alone, three seconds beside 31 others
                await asyncio.sleep(0.01)
                progress += 1 / len(running)
        finally:
            running.discard(delivery.offset)
        done.append(delivery.offset)

    async def give_up(delivery: Delivery, error: BaseException, attempts: int) -> None:
        given_up.append(delivery.offset)

    limits = LaneLimits(running=32, timeout_s=1.0, retry=RetryPolicy(first_pause_s=0.01, budget_s=0.0))
    lanes = Lanes(starving, lane_of=lambda d: d.key, give_up=give_up, limits=limits)
    lanes.assigned([HOME])
    for offset in range(32):
        await lanes.submit(Delivery(*HOME, offset, str(offset).encode(), b""), lambda: None)
    async with asyncio.timeout(120):
        while len(done) + len(given_up) < 32:
            await asyncio.sleep(0.02)
    assert given_up == []
    assert sorted(done) == list(range(32))


async def test_an_outage_of_postgres_gave_up_what_was_under_way_as_soon_as_it_was_over() -> None:
    """What outlasts the retries keeps giving up from being said, too: then the event is not at fault, and is done."""
    away, given_up, acked = True, [], asyncio.Event()
    tries = 0

    async def handle(_: Delivery) -> None:
        if away:
            raise psycopg.OperationalError("the server closed the connection")

    async def give_up(delivery: Delivery, *_: object) -> None:
        nonlocal away, tries
        tries += 1
        if tries < 3:
            raise psycopg.OperationalError("the server closed the connection")
        if away:
            away = False  # Postgres is there again while this one waits
            raise psycopg.OperationalError("the server closed the connection")
        given_up.append(delivery.offset)

    lanes = Lanes(handle, lane_of=lambda d: d.key, give_up=give_up, limits=LaneLimits(retry=QUICK))
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), acked.set)
    async with asyncio.timeout(120):
        await acked.wait()
    assert given_up == []


async def test_an_outage_wrote_a_line_at_each_attempt_of_each_delivery(caplog: pytest.LogCaptureFixture) -> None:
    """Deliveries that wait for what is away say so once each, however often they look."""
    answers = iter([*[ModelUnavailable("overloaded")] * 50, None])

    async def handle(_: Delivery) -> None:
        if (error := next(answers)) is not None:
            raise error

    done = asyncio.Event()
    limits = LaneLimits(retry=RetryPolicy(first_pause_s=0.0001, longest_pause_s=0.0001, budget_s=0.001))
    lanes = Lanes(handle, lane_of=lambda d: d.key, give_up=Desk(limits).give_up, limits=limits)
    lanes.assigned([HOME])
    await lanes.submit(Delivery(*HOME, 0, b"a", b""), done.set)
    async with asyncio.timeout(120):
        await done.wait()
    assert len([one for one in caplog.records if one.levelname == "WARNING"]) == 1
