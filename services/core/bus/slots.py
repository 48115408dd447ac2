"""Places for the handlers that run at once: fewer after some have timed out, one more after each that was done.

Handlers that time out together starve each other: tried again all at once, they would do so again.
"""

from __future__ import annotations

import asyncio
from collections import deque

from services.core.clock import monotonic

FEWER = 4  # so many times fewer run at once after a time-out


class Slots:
    """At most `most` places, first come, first served; a block holds one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.allowed = most
        self._busy = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._reduced_at = float("-inf")

    @property
    def demand(self) -> int:
        """How many run or wait for a place."""
        return self._busy + len(self._queue)

    async def __aenter__(self) -> None:
        if self._busy < self.allowed and not self._queue:
            self._busy += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it was given the place at the same moment
                self._leave()
            elif place in self._queue:
                self._queue.remove(place)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

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

    def _leave(self) -> None:
        self._busy -= 1
        self._fill()

    def _fill(self) -> None:
        while self._queue and self._busy < self.allowed:
            place = self._queue.popleft()
            if not place.done():
                self._busy += 1
                place.set_result(None)
