"""The wall clock. Only edges and keep_time may read it; everything else uses `unit.now`, the event's time."""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")

LOOK_EVERY_S = 0.05
PAUSES_TO_A_LOOK = 4  # whoever waits must not take the CPU of the work that is waited for
LONGEST_PAUSE_S = 1.0


def utc_now() -> datetime:
    """The time now, aware, in UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds on a clock that never goes back, for measuring how long something took."""
    return time.monotonic()


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until `stop` is set."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


async def until(
    look: Callable[[], Awaitable[T | None]], timeout_s: float, *, every_s: float = LOOK_EVERY_S
) -> T | None:
    """What `look` finds, asked again and again where nobody announces it; None where that took more than `timeout_s`.

    It is asked once at least, and every `every_s` seconds, or less often where the look itself takes long.
    """
    deadline = monotonic() + timeout_s
    while True:
        began = monotonic()
        if found := await look():
            return found
        ended = monotonic()
        if ended >= deadline:
            return None
        await asyncio.sleep(max(every_s, min(PAUSES_TO_A_LOOK * (ended - began), LONGEST_PAUSE_S)))


async def either(stop: asyncio.Event, woken: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until one of the two is set."""
    waiting = {asyncio.ensure_future(one.wait()) for one in (stop, woken)}
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


def random_id() -> uuid.UUID:
    """A random id, for edges that meet something new; processors derive theirs with uuid5."""
    return uuid.uuid4()


def random_bytes(count: int) -> bytes:
    """Unpredictable bytes, for keys and nonces."""
    return secrets.token_bytes(count)
