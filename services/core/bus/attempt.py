"""One bounded attempt: run work, take its failure as a value, and never wait for it longer than said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from services.core.errors import Away
from services.core.settings.kafka import GRACE_S

log = logging.getLogger(__name__)


async def attempt(
    call: Callable[..., Awaitable[object]], arguments: tuple[object, ...], timeout_s: float | None
) -> BaseException | None:
    """Call `call(*arguments)` for at most `timeout_s` seconds and give its error, TimeoutError included, or None.

    Work that says what it waited for in vain (`Away`) when its time is over failed for that. Without `timeout_s` it may
    take for ever. Work that what it calls has cancelled has failed, and the caller goes on.
    Work that ignores its cancellation for `GRACE_S` seconds is left behind with an error in the log. When the caller
    is cancelled, so is the work.
    """
    task = asyncio.create_task(_awaited(call, arguments))
    try:
        await asyncio.wait({task}, timeout=timeout_s)
        if timeout_s is not None and not task.done():
            return await _cut_short(task, timeout_s)
    except asyncio.CancelledError:
        task.cancel()
        raise
    return asyncio.CancelledError("the handler cancelled itself") if task.cancelled() else task.exception()


async def _awaited(call: Callable[..., Awaitable[object]], arguments: tuple[object, ...]) -> None:
    await call(*arguments)


async def _cut_short(task: asyncio.Task[None], timeout_s: float) -> BaseException | None:
    task.cancel()
    await asyncio.wait({task}, timeout=GRACE_S)
    if not task.done():
        log.error("%r ignores that it was cancelled after %.1f s and is left behind", task, timeout_s)
        task.add_done_callback(_swallow)
    elif not task.cancelled() and (task.exception() is None or isinstance(task.exception(), Away)):
        return task.exception()
    return TimeoutError(f"not done within {timeout_s:.1f} s")


def _swallow(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("work that was left behind ended in %r", task.exception())
