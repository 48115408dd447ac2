"""Learning waits while replies are under way in the same process, for a while: a burst of mails is answered first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LOOK_S = 0.05
LOOKS = 200  # an event that waited so long is handled next to replies


class ReplyLoad:
    """What the processors between a mail and its reply have to do in this process."""

    def __init__(self) -> None:
        self._demands: list[Callable[[], int]] = []

    def add(self, demand: Callable[[], int]) -> None:
        """One more such processor; `demand` gives how many of its handlers run, or could if there were room."""
        self._demands.append(demand)

    async def passed(self) -> None:
        """Return when none of them has anything to do, or after a while."""
        for _ in range(LOOKS):
            if not any(demand() for demand in self._demands):
                return
            await asyncio.sleep(LOOK_S)
