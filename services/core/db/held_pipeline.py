"""A pipeline that sends its statements when somebody waits for an answer, not one by one.

psycopg sends each statement as soon as it is executed: a call of the system for each, and a backend that is woken.

Invariant: what is executed and not fetched reaches the server with the next fetch, at the latest with the end of the
block or with the `MOST_HELD`-th statement, in the order in which it was executed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, AsyncPipeline
from psycopg.abc import PQGen

MOST_HELD = 100  # statements


class _HeldPipeline(AsyncPipeline):
    def _communicate_gen(self) -> PQGen[None]:
        ends = bool(self.result_queue) and self.result_queue[-1] is None
        if ends or len(self.command_queue) >= MOST_HELD:
            yield from super()._communicate_gen()

    def _fetch_gen(self, *, flush: bool) -> PQGen[None]:
        while self.command_queue:
            self.command_queue.popleft()()
        yield from super()._fetch_gen(flush=flush)


@asynccontextmanager
async def held_pipeline(conn: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Have `conn` in such a pipeline for the block; a fetch waits for all that was executed before."""
    conn._pipeline = _HeldPipeline(conn)
    async with conn.pipeline():
        yield
