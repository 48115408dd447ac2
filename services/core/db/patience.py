"""How long we wait for Postgres before we call it away, and for others to let go of what they have locked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from psycopg.errors import DeadlockDetected, LockNotAvailable

T = TypeVar("T")

# Seconds to connect, and milliseconds that what we sent may stay unacknowledged.
PATIENCE: dict[str, Any] = {"connect_timeout": 10, "tcp_user_timeout": 20_000}


async def when_free(act: Callable[[], Awaitable[T]], *, tries: int, pause_s: float, busy: Exception) -> T:
    """What `act` gives, tried so many times while others hold what it locks. Raises `busy` where they never let go."""
    for _ in range(tries):
        try:
            return await act()
        except (DeadlockDetected, LockNotAvailable):
            await asyncio.sleep(pause_s)
    raise busy
