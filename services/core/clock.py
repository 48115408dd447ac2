"""The wall clock. Only edges and keep_time may read it; everything else uses `unit.now`, the event's time."""

from __future__ import annotations

import asyncio
import secrets
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime


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
