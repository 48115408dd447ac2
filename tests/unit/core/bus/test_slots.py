"""Places for handlers: how many, and for whom."""

import asyncio

import pytest

from services.core.bus import reply_load
from services.core.bus.reply_load import ReplyLoad
from services.core.bus.slots import Slots
from services.core.clock import monotonic


async def test_a_time_out_lets_fewer_run_and_each_success_one_more() -> None:
    """64 become 16 once, however many of a crowd time out; what is done wins places back up to the limit."""
    slots, began = Slots(64), monotonic()
    await asyncio.gather(slots.__aenter__(), slots.__aenter__())
    assert [slots.timed_out(began), slots.timed_out(began)] == [True, True]
    assert slots.allowed == 16
    for _ in range(100):
        slots.done()
    assert slots.allowed == 64


async def test_one_that_ran_alone_timed_out_by_itself() -> None:
    """Nobody took time from it: its failure counts."""
    slots = Slots(64)
    async with slots:
        assert not slots.timed_out(monotonic())


async def test_a_place_given_to_one_who_was_cancelled_is_not_lost() -> None:
    """Who waits and is cancelled leaves the queue, or gives back what it was given at that moment."""
    slots = Slots(1)
    await slots.__aenter__()
    first, second = (asyncio.create_task(slots.__aenter__()) for _ in range(2))
    await asyncio.sleep(0)
    assert slots.demand == 3
    await slots.__aexit__()  # the place is the first one's
    first.cancel()
    await asyncio.wait_for(second, 30)
    third = asyncio.create_task(slots.__aenter__())
    await asyncio.sleep(0)
    third.cancel()
    await asyncio.wait({third})
    assert slots.demand == 1


async def test_learning_waits_while_replies_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on when there are none, without waiting for its limit."""
    monkeypatch.setattr(reply_load, "LONGEST_S", 600)
    demand, load = [2], ReplyLoad()
    load.add(lambda: demand[0])
    learning = asyncio.create_task(load.passed())
    await asyncio.sleep(0.2)
    assert not learning.done()
    demand[0] = 0
    await asyncio.wait_for(learning, 60)


async def test_learning_ran_beside_the_reply_while_its_mail_was_between_two_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It begins a moment after the last of their handlers has ended, and at once where none has ended lately."""
    monkeypatch.setattr(reply_load, "BETWEEN_S", 600)
    load = ReplyLoad()
    await asyncio.wait_for(load.passed(), 30)
    load.ended()
    learning = asyncio.create_task(load.passed())
    await asyncio.sleep(0.2)
    assert not learning.done()
    monkeypatch.setattr(reply_load, "BETWEEN_S", 0)
    await asyncio.wait_for(learning, 60)


async def test_each_event_that_waited_to_be_learned_from_looked_for_itself() -> None:
    """A burst leaves hundreds waiting: one looks for all of them."""
    looks, busy, load = [0], [True], ReplyLoad()

    def demand() -> int:
        looks[0] += 1
        return int(busy[0])

    load.add(demand)
    waiting = [asyncio.create_task(load.passed()) for _ in range(200)]
    while looks[0] < 203:  # each once, when it came, and three for all
        await asyncio.sleep(0.01)
    assert not any(one.done() for one in waiting)
    busy[0] = False
    await asyncio.wait_for(asyncio.gather(*waiting), 30)
    assert looks[0] <= 210
