"""Lanes: deliveries of one key in order, of different keys side by side, offsets only behind finished work.

This is the asyncio shell around `lane_state`, which decides; here are the tasks, timeouts, pauses and the gate.

Invariants
- `ack` is called in partition order, once, and only when this and all earlier deliveries of the partition are done:
  handled, or taken over by `give_up`.
- A delivery that cannot be given up is handled anew, for as long as the partition is ours: what gives up stands on the
  same database and the same log, and what they did to the handler is no fault of the event.
- At most `running` handlers and at most `admitted` deliveries at once; `submit` waits for room (back-pressure). Of the
  handlers at most `at_work` do anything but wait for a model; one that only waits for the broker has left its slot.
- A handler that timed out while others ran beside it is tried again with fewer beside it, `MOST_CROWDED` times without
  using up its retries: on a starved machine events are late, not failed.
- Waiting for the gate or for a retry holds the delivery's own lane and its place among the admitted, but no running
  slot. So an outage behind the gate fills the admission and stalls this consumer, and that is right: a process asks one
  provider with one key for one workspace, nothing it could admit would fare better, and what waits on the log is safe
  there. Other groups have lanes of their own. Retries hold their places for one attempt, the crowded ones and
  `RetryPolicy.budget_s` at most; a service that is `Away` uses up none of that, is waited for until it answers, and is
  said once for each delivery.
- On `revoked` what runs may end and be acknowledged; all else is dropped without a trace: the next owner gets it, also
  what failed meanwhile. After `assigned` nothing of an older epoch is acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.core.bus.attempt import attempt
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.lane_state import Ack, LaneState, Ticket
from services.core.bus.retry import Outage, RetryPolicy, classify
from services.core.bus.slots import Place, Slots
from services.core.clock import monotonic
from services.core.errors import Away
from services.core.settings.kafka import GRACE_S

if TYPE_CHECKING:  # loads a library that not everyone needs
    from services.core.metrics import Outcome

log = logging.getLogger(__name__)

Handle = Callable[[Delivery], Awaitable[None]]
GiveUp = Callable[[Delivery, BaseException, int], Awaitable[None]]

PLENTY = 2  # lanes with work in hand; the events of one mail alone are of its thread and of its sender
MOST_CROWDED = 4  # attempts of one event that may time out beside others and are not counted


class Crowded(TimeoutError):
    """The handler timed out, and others ran beside it."""


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """Bounds of the lanes: deliveries running and admitted, seconds for one attempt, and the retry policy.

    What an operator sets is `LaneSettings`, whose defaults these are.
    """

    running: int = 64
    admitted: int = 256
    timeout_s: float = 70.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    @property
    def longest_attempt_s(self) -> float:
        """How long a delivery may go on after its partition was revoked."""
        return self.timeout_s + GRACE_S


@dataclass(frozen=True, slots=True)
class _Failed:
    """What is to be given up: the last error, and after how many attempts."""

    error: BaseException
    attempts: int


@dataclass(frozen=True, slots=True)
class Signals:
    """What hears what the lanes do: each attempt with its outcome and seconds, each retry, each event given up."""

    attempted: Callable[[Outcome, float], None] = lambda outcome, seconds: None
    retried: Callable[[str], None] = lambda reason: None
    gave_up: Callable[[], None] = lambda: None


class Lanes:
    """Runs `handle` for each submitted delivery under the rules above; `give_up` takes what cannot be handled."""

    def __init__(
        self,
        handle: Handle,
        *,
        lane_of: Callable[[Delivery], Hashable],
        give_up: GiveUp,
        limits: LaneLimits | None = None,
        skips: Callable[[Delivery], bool] = lambda _: False,
        gate: Handle | None = None,
        signals: Signals | None = None,
        at_work: int | None = None,
    ) -> None:
        self.limits = limits or LaneLimits()
        self._handle, self._lane_of, self._give_up, self._gate = handle, lane_of, give_up, gate
        self._skips = skips
        self._signals = signals or Signals()
        self._state = LaneState(self.limits.admitted)
        self._slots = Slots(self.limits.running)
        self._turns = Slots(at_work or self.limits.running)
        self._attempting = 0
        self._tasks: dict[Ticket, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._drained = False

    async def submit(self, delivery: Delivery, ack: Ack) -> bool:
        """Admit a delivery, waiting for room; False when its partition is not (or no longer) assigned to us.

        One that the consumer `skips` is done at once: it needs no lane, no slot and no task.
        """
        while self._state.is_open(delivery.source) and not self._state.has_room(delivery.source):
            await self._changed.wait()
        if not self._state.is_open(delivery.source):
            return False
        # No await since the question: no rebalance can come in between.
        if self._is_skipped(delivery):
            _acknowledge(self._state.skip(delivery, ack))
            return True
        ticket = self._state.admit(self._lane(delivery), delivery, ack)
        self._start(ticket.lane)
        return True

    def assigned(self, partitions: Collection[Partition]) -> None:
        """Start a new epoch for these partitions, which are ours from now on."""
        if not self._drained:
            self._forget(self._state.open(partitions))

    def revoked(self, partitions: Iterable[Partition] | None = None) -> None:
        """Admit nothing more of these partitions (None: of all) and drop what has not started; see `ended`."""
        self._forget(self._state.close(self._state.partitions() if partitions is None else partitions))

    async def ended(self) -> None:
        """Wait until nothing of revoked partitions runs any more; it takes `longest_attempt_s` at most."""
        while any(not self._state.is_current(ticket) for ticket in self._tasks):
            await self._changed.wait()

    async def drain(self, timeout_s: float) -> bool:
        """Stop for good: admit nothing, let what runs end and be acknowledged; False when the time did not suffice."""
        self._drained = True
        self.revoked()
        try:
            async with asyncio.timeout(timeout_s):
                await self.ended()
        except TimeoutError:
            self._abandon()
            return False
        return True

    @property
    def unfinished(self) -> int:
        """How many deliveries are admitted and not yet done."""
        return self._state.unfinished

    @property
    def demand(self) -> int:
        """How many handlers run, would if there were room, or wait for the broker."""
        return self._attempting

    @property
    def partitions(self) -> int:
        """How many partitions are assigned."""
        return self._state.assigned

    def has_plenty(self) -> bool:
        """Whether so many lanes have work in hand that more need not come at once; from any thread.

        Lanes are counted, not deliveries: what many wait for is committed together, and while they wait the events of
        one mail were enough to let its own reply wait a fifth of a second for the next look at the log.
        """
        return self._state.lanes > min(PLENTY, self._slots.allowed)

    def oldest_ms(self) -> int | None:
        """When the oldest delivery that is admitted and not done was written, in Unix milliseconds."""
        return min((one.delivery.timestamp_ms for one in self._state.waiting()), default=None)

    def _is_skipped(self, delivery: Delivery) -> bool:
        try:
            return self._skips(delivery)
        except Exception:  # the handler meets it again, and can give the record up
            return False

    def _lane(self, delivery: Delivery) -> Hashable:
        try:
            return self._lane_of(delivery)
        except Exception:  # a record without a lane would stop the partition, since offsets move in order
            log.exception("no lane for %s@%d, it takes its partition's", delivery.source, delivery.offset)
            return delivery.source

    def _start(self, lane: Hashable) -> None:
        ticket = self._state.take_head(lane)
        if ticket is not None:
            task = self._tasks[ticket] = asyncio.create_task(self._run(ticket), name=f"lane {lane}")
            task.add_done_callback(lambda _: self._ended(ticket))

    async def _run(self, ticket: Ticket) -> None:
        if await self._work(ticket):
            self._finish(ticket)
        else:
            self._state.drop(ticket)

    def _ended(self, ticket: Ticket) -> None:
        """Let the lane go on; also where the task was cancelled before its first step."""
        del self._tasks[ticket]
        self._start(ticket.lane)
        self._announce()

    async def _work(self, ticket: Ticket) -> bool:
        """Handle the delivery or give it up; False when a rebalance took it from us before either was done."""
        troubles = 0
        while isinstance(ended := await self._attempts(ticket), _Failed):
            arguments = (ticket.delivery, ended.error, ended.attempts)
            trouble, _ = await self._bounded(ticket, self._give_up, arguments, self.limits.timeout_s)
            if trouble is None:
                self._signals.gave_up()
                return True
            troubles += 1
            if not await self._pause(ticket, self.limits.retry.uncapped_pause(troubles), trouble):
                return False
        return ended

    async def _attempts(self, ticket: Ticket) -> bool | _Failed:
        """Try until it is done, or is not ours any more, or there is nothing left to try."""
        attempts, spent, crowded, retry, outage = 0, 0.0, 0, self.limits.retry, Outage()
        while True:
            left = retry.budget_s - spent if attempts else self.limits.timeout_s
            error, took = await self._try(ticket, min(left, self.limits.timeout_s))
            if error is None:
                return True
            if isinstance(error, Away) and outage.lasts(error):  # an outage uses up none of the event's attempts
                said_at = logging.WARNING if outage.failures == 1 else logging.DEBUG
                if not await self._pause(ticket, retry.uncapped_pause(outage.failures), error, said_at):
                    return False
                continue
            if isinstance(error, Crowded) and crowded < MOST_CROWDED:
                crowded += 1
                if not await self._pause(ticket, retry.uncapped_pause(crowded), error):
                    return False
                continue
            spent += took if attempts else 0.0
            attempts += 1
            pause = retry.pause_after(attempts, spent) if classify(error) == "temporary" else None
            if pause is None:
                return self._is_ours(ticket, error) and _Failed(error, attempts)
            if not await self._pause(ticket, pause, error):
                return False
            spent += pause

    async def _try(self, ticket: Ticket, timeout_s: float) -> tuple[BaseException | None, float]:
        try:
            if self._gate is not None:
                await self._gate(ticket.delivery)
        except Exception as error:
            return error, 0.0
        failed, took = await self._bounded(ticket, self._handle, (ticket.delivery,), timeout_s)
        self._signals.attempted(classify(failed) if failed else "done", took)
        return failed, took

    async def _bounded(
        self, ticket: Ticket, call: Callable[..., Awaitable[None]], arguments: tuple[object, ...], timeout_s: float
    ) -> tuple[BaseException | None, float]:
        """One attempt in a running slot: its error, and the seconds it took."""
        self._attempting += 1
        try:
            async with Place(self._slots, self._turns):
                self._state.activate(ticket)
                began = monotonic()
                error = await attempt(call, arguments, timeout_s)
                self._state.hold(ticket)
                took = monotonic() - began
                if not (isinstance(error, TimeoutError) and took >= timeout_s):
                    self._slots.done()
                elif self._slots.timed_out(began):  # others ran with it: it may be the machine's fault
                    error = Crowded(str(error))
            return error, took
        finally:
            self._attempting -= 1

    async def _pause(
        self, ticket: Ticket, seconds: float, error: BaseException, said_at: int = logging.WARNING
    ) -> bool:
        """Wait before the next attempt; False when there must be none."""
        if not self._is_ours(ticket, error):
            return False
        place = (*ticket.partition, ticket.delivery.offset)
        log.log(said_at, "%s@%d/%d is tried again in %.1f s: %r", *place, seconds, error)
        self._signals.retried(classify(error))
        await asyncio.sleep(seconds)
        return True

    def _is_ours(self, ticket: Ticket, error: BaseException) -> bool:
        """Whether the failed delivery is ours to try again or give up; else the partition's next owner does."""
        if self._state.is_current(ticket):
            return True
        place = (*ticket.partition, ticket.delivery.offset)
        log.info("%s@%d/%d failed and is left to the partition's next owner: %r", *place, error)
        return False

    def _finish(self, ticket: Ticket) -> None:
        _acknowledge(self._state.finish(ticket))

    def _forget(self, dropped: list[Ticket]) -> None:
        """Stop the tasks of dropped tickets and let the lanes behind them go on."""
        for ticket in dropped:
            if (task := self._tasks.get(ticket)) is not None:
                task.cancel()
        for lane in self._state.free_lanes():
            self._start(lane)
        self._announce()

    def _abandon(self) -> None:
        for ticket, task in self._tasks.items():
            log.error("%s@%d did not end before the shutdown", ticket.partition, ticket.delivery.offset)
            self._state.drop(ticket)
            task.cancel()

    def _announce(self) -> None:
        # A new one each time: all who wait now wake up, and whoever waits from here on waits for the next change.
        self._changed.set()
        self._changed = asyncio.Event()


def _acknowledge(tickets: Iterable[Ticket]) -> None:
    for done in tickets:
        done.ack()
