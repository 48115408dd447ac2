"""Learning waits while replies are under way in the same process, for a while: a burst of mails is answered first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from services.core.clock import monotonic

LOOK_S = 0.02
BETWEEN_S = 0.08  # a mail is with none of its processors for some milliseconds, on its way from one to the next
LONGEST_S = 10.0  # an event that waited so long is handled next to replies


class ReplyLoad:
    """What the processors between a mail and its reply have to do in this process."""

    def __init__(self) -> None:
        self._demands: list[Callable[[], int]] = []
        self._ended_at = float("-inf")
        self._quiet: asyncio.Task[None] | None = None

    def ended(self) -> None:
        """One of their handlers has done its work: the next one may have a part of it in a moment."""
        self._ended_at = monotonic()

    def add(self, demand: Callable[[], int]) -> None:
        """One more such processor; `demand` gives how many of its handlers run, or could if there were room."""
        self._demands.append(demand)

    async def passed(self) -> None:
        """Return when none of them has had anything to do for a moment, or after a while; one looks for all."""
        if self._is_busy():
            if self._quiet is None or self._quiet.done():
                self._quiet = asyncio.create_task(self._until_quiet(), name="replies under way")
            await asyncio.wait({self._quiet}, timeout=LONGEST_S)

    def _is_busy(self) -> bool:
        return monotonic() - self._ended_at < BETWEEN_S or any(demand() for demand in self._demands)

    async def _until_quiet(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            if not self._is_busy():
                return
