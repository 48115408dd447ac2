"""Places for the handlers that run at once, and turns for those of them that are at work.

A place is held until all is decided. Fewer are given after some have timed out, one more after each
handler that was done: handlers that time out together starve each other, and tried again all at once would do so again.

A turn is given back while a handler waits for a model. When many answers come together, those who got theirs would
otherwise go on side by side, each slowed by all others: none is done, no place is free, and the model is asked nothing
until nearly all of them are done. Who has yet to ask goes before those who have an answer: the model takes longest.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar, Token

from services.core.clock import monotonic

FEWER = 4  # so many times fewer run at once after a time-out


class Slots:
    """At most `most` places, first come, first served; a block holds one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.allowed = most
        self._busy = 0
        self._first: deque[asyncio.Future[None]] = deque()
        self._queue: deque[asyncio.Future[None]] = deque()
        self._reduced_at = float("-inf")

    @property
    def demand(self) -> int:
        """How many run or wait for a place."""
        return self._busy + len(self._first) + len(self._queue)

    async def __aenter__(self) -> None:
        await self.take()

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    async def take(self, *, first: bool = False) -> None:
        """Return with a place; who is to be `first` waits only for others who are."""
        if self._busy < self.allowed and not self._first and not self._queue:
            self._busy += 1
            return
        queue = self._first if first else self._queue
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it was given the place at the same moment
                self.leave()
            elif place in queue:
                queue.remove(place)
            raise

    def leave(self) -> None:
        """Give a place back."""
        self._busy -= 1
        self._fill()

    def done(self) -> None:
        """A handler did not time out: one more may run at once."""
        self.allowed = min(self._most, self.allowed + 1)
        self._fill()

    def timed_out(self, began: float) -> bool:
        """A handler that began then (seconds, monotonic) did time out; whether it may have been for want of time.

        Of those that ran at once only the first makes fewer run; one that ran alone had all the time there is.
        """
        if began < self._reduced_at:
            return True
        crowded = self.allowed > 1 and self.demand > 1
        self.allowed = max(1, self.allowed // FEWER)
        self._reduced_at = monotonic()
        return crowded

    def _fill(self) -> None:
        while (queue := self._first or self._queue) and self._busy < self.allowed:
            place = queue.popleft()
            if not place.done():
                self._busy += 1
                place.set_result(None)


class Place:
    """A handler's place and turn for a block: the turn is another's while it is `elsewhere`, both are after `end`."""

    def __init__(self, places: Slots, turns: Slots) -> None:
        self._places, self._turns = places, turns
        self._at_work = self._ended = False
        self._before: Token[Place | None]

    async def __aenter__(self) -> None:
        await self._places.take()
        try:
            await self._turns.take(first=True)
        except BaseException:
            self._places.leave()
            raise
        self._at_work = True
        self._before = _PLACE.set(self)

    async def __aexit__(self, *_: object) -> None:
        _PLACE.reset(self._before)
        self.end()

    def end(self) -> None:
        """Give both back for good."""
        self._give_back()
        if not self._ended:
            self._ended = True
            self._places.leave()

    @asynccontextmanager
    async def elsewhere(self) -> AsyncIterator[None]:
        """Others have the turn for the block, and at its end it is waited for, unless the block is cancelled."""
        self._give_back()
        try:
            yield
        except Exception:
            await self._take_again()
            raise
        await self._take_again()

    def _give_back(self) -> None:
        if self._at_work:
            self._at_work = False
            self._turns.leave()

    async def _take_again(self) -> None:
        """Have the turn; not where it has ended, since a handler that ignored its cancellation is left behind."""
        if self._lacks_turn():
            await self._turns.take()
            if self._lacks_turn():
                self._at_work = True
            else:  # its handler has ended, or has it by another of its tasks
                self._turns.leave()

    def _lacks_turn(self) -> bool:
        return not (self._at_work or self._ended)


_PLACE: ContextVar[Place | None] = ContextVar("the place of the handler that runs", default=None)


@asynccontextmanager
async def elsewhere() -> AsyncIterator[None]:
    """While the block waits for a model or a tool, the handler that runs it is not at work."""
    place = _PLACE.get()
    if place is None:
        yield
    else:
        async with place.elsewhere():
            yield


def decided() -> None:
    """What the handler still waits for is the broker; it needs no place for that."""
    if (place := _PLACE.get()) is not None:
        place.end()
