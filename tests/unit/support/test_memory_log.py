"""The log in memory that stands in for a broker: order, acknowledgement, and what is left to the next member."""

from __future__ import annotations

import asyncio

from services.core.bus.delivery import Delivery, Record
from services.core.bus.lanes import LaneLimits, Lanes
from tests.support.memory_log import MemoryLog

TOPIC = "letters"


def member(handled: list[bytes | None], *, patience: asyncio.Event | None = None) -> Lanes:
    """Lanes that keep what they handle, once `patience` is set."""

    async def handle(delivery: Delivery) -> None:
        if patience:
            await patience.wait()
        handled.append(delivery.value)

    async def give_up(delivery: Delivery, error: BaseException, attempts: int) -> None:
        raise AssertionError(error)

    return Lanes(handle, lane_of=lambda one: one.key, give_up=give_up, limits=LaneLimits(running=4, admitted=4))


async def until(handled: list[bytes | None], number: int) -> None:
    async with asyncio.timeout(60):
        while len(handled) < number:
            await asyncio.sleep(0)


async def left(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_each_group_gets_every_record_once_and_each_key_in_its_order() -> None:
    """What was published before the first member came is handed over, too; two members share."""
    log, one, two, other = MemoryLog(), [], [], []  # type: ignore[var-annotated]
    log.append([Record(TOPIC, b"a", b"1"), Record(TOPIC, b"b", b"2"), Record("another", b"a", b"no")])
    tasks = [
        asyncio.create_task(log.consume(group, [TOPIC], member(handled)))
        for group, handled in (("g", one), ("g", two), ("h", other))
    ]
    await asyncio.sleep(0)
    log.append([Record(TOPIC, b"a", b"%d" % number) for number in range(3, 9)])
    await until(other, 8)
    async with asyncio.timeout(60):
        while len(one) + len(two) < 8:
            await asyncio.sleep(0)
    await left(*tasks)
    assert sorted(one + two) == sorted(other) == [b"%d" % number for number in range(1, 9)]
    assert [value for value in other if value != b"2"] == [b"%d" % number for number in (1, *range(3, 9))]


async def test_what_a_member_had_not_done_is_the_next_ones() -> None:
    """A member that leaves finishes what runs; all that waited behind it goes to whoever comes."""
    log, first, second, patience = MemoryLog(), [], [], asyncio.Event()  # type: ignore[var-annotated]
    task = asyncio.create_task(log.consume("g", [TOPIC], member(first, patience=patience)))
    log.append([Record(TOPIC, b"a", b"%d" % number) for number in range(3)])
    await asyncio.sleep(0.01)
    task.cancel()
    patience.set()
    await asyncio.wait([task])
    again = asyncio.create_task(log.consume("g", [TOPIC], member(second)))
    await until(second, 3 - len(first))
    await left(again)
    assert first + second == [b"0", b"1", b"2"]
