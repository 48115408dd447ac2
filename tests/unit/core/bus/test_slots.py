"""Places for handlers: how many, and for whom."""

import asyncio

import pytest

from services.core.bus import reply_load
from services.core.bus.reply_load import ReplyLoad
from services.core.bus.slots import Place, Slots, decided, elsewhere
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


class Handlers:
    """Handlers with one turn for all of them: each is asked about, waits for its answer, and then works once more."""

    def __init__(self, places: int) -> None:
        self.places, self.turns = Slots(places), Slots(1)
        self.did: list[str] = []
        self.answers: dict[str, asyncio.Event] = {}

    async def run(self, name: str) -> None:
        async with Place(self.places, self.turns):
            self.did.append(f"{name} asks")
            await asyncio.sleep(0)
            answer = self.answers[name] = asyncio.Event()
            async with elsewhere():
                await answer.wait()
            self.did.append(f"{name} goes on")
            for _ in range(5):
                await asyncio.sleep(0)
            self.did.append(f"{name} is done")


async def soon() -> None:
    """Let everything that can run do so."""
    for _ in range(30):
        await asyncio.sleep(0)


async def test_no_handler_was_done_until_all_that_had_their_answers_were_nearly_done() -> None:
    """One after the other goes on; who takes a free place asks before those who still have to."""
    handlers = Handlers(3)
    running = [asyncio.create_task(handlers.run(name)) for name in "abcd"]
    await soon()
    assert handlers.did == ["a asks", "b asks", "c asks"]
    for name in "abc":
        handlers.answers[name].set()
    await soon()
    after = ["a goes on", "a is done", "b goes on", "b is done", "d asks", "c goes on", "c is done"]
    assert handlers.did[3:] == after
    handlers.answers["d"].set()
    await asyncio.gather(*running)


async def test_a_handler_that_only_waits_for_the_broker_held_its_place() -> None:
    """What it decided is stored: the next one may begin."""
    places, turns, broker = Slots(1), Slots(1), asyncio.Event()

    async def publishing() -> None:
        async with Place(places, turns):
            decided()
            await broker.wait()

    one = asyncio.create_task(publishing())
    await soon()
    async with asyncio.timeout(30), Place(places, turns):
        assert not one.done()
    broker.set()
    await one
    assert (places.demand, turns.demand) == (0, 0)


@pytest.mark.parametrize("when", ["for a place", "for a turn", "elsewhere", "for its turn again"])
async def test_who_is_cancelled_while_it_waits_leaves_nothing_behind(when: str) -> None:
    """Wherever it waits: all places and turns are free afterwards."""
    places, turns, answer = Slots(2), Slots(1), asyncio.Event()

    async def handler() -> None:
        async with Place(places, turns), elsewhere():
            await answer.wait()

    held = {"for a place": 2, "for a turn": 1}.get(when, 0)
    others = [Place(places, Slots(1)) for _ in range(held - 1)] + [Place(places, turns) for _ in range(min(held, 1))]
    for other in others:
        await other.__aenter__()
    one = asyncio.create_task(handler())
    await soon()
    if when == "for its turn again":
        await turns.take()
        answer.set()
        await soon()
    one.cancel()
    await asyncio.wait({one})
    assert one.cancelled()
    for other in reversed(others):
        await other.__aexit__()
    if when == "for its turn again":
        turns.leave()
    assert (places.demand, turns.demand) == (0, 0)


async def test_a_handler_left_behind_takes_no_turn_any_more() -> None:
    """It ignored its cancellation; what it still does is nobody's turn."""
    places, turns, answer = Slots(1), Slots(1), asyncio.Event()

    async def stubborn() -> None:
        async with elsewhere():
            await answer.wait()

    async with Place(places, turns):
        task = asyncio.create_task(stubborn())
        await soon()
    answer.set()
    await task
    assert (places.demand, turns.demand) == (0, 0)


async def test_a_model_that_fails_leaves_the_handler_at_work() -> None:
    """What it does about the failure is done in its turn."""
    places, turns = Slots(1), Slots(1)
    async with Place(places, turns):
        with pytest.raises(ValueError, match="no answer"):
            async with elsewhere():
                raise ValueError("no answer")
        assert turns.demand == 1
    assert turns.demand == 0


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
