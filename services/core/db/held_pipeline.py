"""A pipeline that sends its statements when somebody waits for an answer, not one by one.

psycopg sends each statement as soon as it is executed: a call of the system for each, and a backend that is woken.

Invariants
- What is executed and not fetched reaches the server with the next fetch, at the latest with the end of the block or
  with the `MOST_HELD`-th statement, in the order in which it was executed.
- What went wrong first is raised, not that the rest was not done because of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from psycopg import AsyncConnection, AsyncPipeline, Error
from psycopg.abc import PQGen
from psycopg.errors import PipelineAborted

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

    def _exit_gen(self) -> PQGen[None]:
        # psycopg's own raises what it reads last: where an error is answered before all is sent, that what was sent
        # after it was aborted.
        self._enqueue_sync()
        try:
            yield from self._communicate_gen()
        except Error:
            with suppress(PipelineAborted):
                yield from self._fetch_gen(flush=True)
            raise
        yield from self._fetch_gen(flush=True)


@asynccontextmanager
async def held_pipeline(conn: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Have `conn` in such a pipeline for the block; a fetch waits for all that was executed before."""
    conn._pipeline = _HeldPipeline(conn)
    async with conn.pipeline():
        yield
