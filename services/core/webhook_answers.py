"""How receivers answered webhooks, for people who look at an endpoint: anybody's words, kept for days.

These rows follow from no event: a rebuild leaves them alone, and an erase takes those of the person's threads.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from services.core.db import Connection, queries

SQL = queries(__file__, "webhook_answers.sql")
KEPT = timedelta(days=30)


async def keep_answer(
    conn: Connection,
    workspace: str,
    *,
    webhook_id: UUID,
    endpoint_id: UUID,
    thread_id: UUID | None,
    answer: str,
    at: datetime,
) -> None:
    """Keep the last answer to a webhook; what is older than `KEPT` goes."""
    args = {"workspace": workspace, "webhook_id": webhook_id, "endpoint_id": endpoint_id, "thread_id": thread_id}
    await conn.execute(SQL.keep, {**args, "answer": answer, "at": at})
    await conn.execute(SQL.forget_old, {"workspace": workspace, "before": at - KEPT})


async def forget_answers(conn: Connection, threads: list[UUID]) -> None:
    """Forget what was answered to what was told of these threads."""
    await conn.execute(SQL.forget_threads, {"threads": threads})
