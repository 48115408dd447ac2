"""What many handlers of a process wait for is committed once for all of them: one transaction, one wait for the disk.

Three things come together: journal rows of events for which nothing is to be done, events that the broker has
acknowledged, and units in the background, whose own commits did not wait for the disk.

Invariants
- A call returns when what it asks for is committed, and on disk unless it need not be: so offsets move last, as behind
  a commit of one's own. Postgres writes commits to disk in their order: one that waits answers for all before it.
- Where a batch fails, every call that waits for it raises what happened, and nothing of the batch stands.
- Who comes alone is served at once. After a batch of several the next ones gather for `GATHER_S`.
"""

from __future__ import annotations

import asyncio
from contextvars import Context
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from services.core.db import Database, queries

SQL = queries(__file__, "group_commit.sql")
GATHER_S = 0.1


@dataclass(slots=True)
class _Batch:
    """What is committed together, and the future of that."""

    committed: asyncio.Future[None]
    calls: int = 0
    passed_over: list[tuple[str, UUID, date]] = field(default_factory=list)
    published: list[UUID] = field(default_factory=list)
    to_disk: bool = False


class GroupCommit:
    """The batches of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: _Batch | None = None
        self._task: asyncio.Task[None] | None = None

    async def pass_over(self, consumer: str, event_id: UUID, event_day: date) -> None:
        """Nothing is to be done for the event: the journal says, on disk, that the consumer has seen it."""
        batch = self._joined()
        batch.passed_over.append((consumer, event_id, event_day))
        batch.to_disk = True
        await asyncio.shield(batch.committed)  # a caller that is cancelled leaves alone what the others wait for

    async def mark_published(self, ids: list[UUID]) -> None:
        """The broker has acknowledged these events. A crash may take that back: they are published again then."""
        batch = self._joined()
        batch.published += ids
        await asyncio.shield(batch.committed)

    async def on_disk(self) -> None:
        """Return when everything that was committed before, by whomever, is on disk."""
        batch = self._joined()
        batch.to_disk = True
        await asyncio.shield(batch.committed)

    def _joined(self) -> _Batch:
        """The batch that is committed next. Its task has a context of its own, not that of a caller's event."""
        if self._open is None:
            self._open = _Batch(asyncio.get_running_loop().create_future())
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._commit_all(), name="group commit", context=Context())
        self._open.calls += 1
        return self._open

    async def _commit_all(self) -> None:
        while self._open is not None:
            batch, self._open = self._open, None
            try:
                await self._commit(batch)
            except Exception as error:
                batch.committed.set_exception(error)
            except BaseException:
                batch.committed.cancel()
                raise
            else:
                batch.committed.set_result(None)
            await asyncio.sleep(GATHER_S if batch.calls > 1 else 0)

    async def _commit(self, batch: _Batch) -> None:
        async with self._database.transaction(to_disk=batch.to_disk) as conn:
            if batch.passed_over:
                # Sorted: two processes that write the same rows in different orders would wait for each other.
                consumers, ids, days = zip(*sorted(batch.passed_over), strict=True)
                args = {"consumers": list(consumers), "event_ids": list(ids), "event_days": list(days)}
                await conn.execute(SQL.pass_over, args)
            if batch.published:
                await conn.execute(SQL.mark_published, {"ids": batch.published})
            if batch.to_disk:
                await conn.execute(SQL.write)
