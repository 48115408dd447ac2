"""A projection of one aggregate through the cache, under the aggregate's version: what was overtaken is never read.

Nobody has to drop anything: whoever changes the aggregate changes its version in the same transaction. A text that is
put late stands under the version that it was read at, which nobody asks for any more, and ends with its time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from services.core.db import Connection, fetch_one
from services.load_memory.turn import SQL, Turn


async def cached(
    turn: Turn,
    conn: Connection,
    name: str,
    aggregate: tuple[str, UUID],
    load: Callable[[], Awaitable[str]],
    seconds: int,
) -> str:
    """The kept text of this version of the aggregate (kind, id), or what `load` gives, which is then kept."""
    kind, id = aggregate
    row = await fetch_one(conn, SQL.version, {"workspace": turn.workspace, "kind": kind, "id": id})
    version = row["version"] if row else 0
    return await turn.app.cache.through(f"{name}:{turn.workspace}:{id}:{version}", load, seconds=seconds)
