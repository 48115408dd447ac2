"""Whether a fault that lasts has met anybody: one that did not proves nothing, and is not counted as done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class MetNobody(Exception):
    """The fault was done, and nothing of the run came across it."""


@asynccontextmanager
async def meeting(seconds: float) -> AsyncIterator[None]:
    """Bounds a wait for somebody to meet a fault. Raises `MetNobody` when the time is over."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise MetNobody from error
