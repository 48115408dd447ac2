"""How Postgres would find the rows of the statements that processors send, each as it is bound and with its own arguments."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one
from services.core.db.pool import BIND, BIND_NOT_TO_DISK

PARTIAL = "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indpred IS NOT NULL"
_PLANNED = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:SELECT|INSERT|UPDATE|DELETE|WITH|\()", re.I)
_OWN = re.compile(r"\(?workspace = (?:current_setting\('app.workspace'::text, true\)|'[^']*'::text)\)?|AND|[()\s]")


@contextmanager
def bound_statements() -> Iterator[dict[str, Any]]:
    """Each statement that is sent under row security for the block, with the arguments that it had last."""
    sent: dict[str, Any] = {}
    bound: set[int] = set()
    execute = psycopg.AsyncCursor.execute

    @functools.wraps(execute)
    async def noting(self: Any, query: Any, params: Any = None, **kwargs: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else str(query)
        if text in (BIND, BIND_NOT_TO_DISK):
            bound.add(id(self.connection))
        elif text in ("COMMIT", "ROLLBACK"):
            bound.discard(id(self.connection))
        elif id(self.connection) in bound and _PLANNED.match(text):
            sent[text] = params
        return await execute(self, query, params, **kwargs)

    psycopg.AsyncCursor.execute = noting  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        psycopg.AsyncCursor.execute = execute  # type: ignore[method-assign]


async def read_whole(app: App, statement: str, args: Any) -> set[str]:
    """The tables that the statement cannot but read from end to end, as far as the workspace's rows are all of them.

    A partial index, of what is open or not published, may be read whole.
    """
    async with app.database.transaction(app.settings.workspace) as conn:
        await conn.execute("SET LOCAL enable_seqscan = off")
        partial = {row["name"] for row in await fetch_all(conn, PARTIAL)}
        scans = scans_of(await plan_of(conn, b"", statement, args))
    return {one["Relation Name"] for one in scans if not _is_bounded(one) and one.get("Index Name") not in partial}


async def plan_of(conn: Connection, options: bytes, statement: str, args: Any) -> dict[str, Any]:
    """The plan of a statement, as EXPLAIN tells it with these options ("ANALYZE, ")."""
    row = await fetch_one(conn, b"EXPLAIN (" + options + b"FORMAT JSON) " + statement.encode(), args)
    assert row is not None
    told = row["QUERY PLAN"]
    plan: dict[str, Any] = (json.loads(told) if isinstance(told, str) else told)[0]["Plan"]
    return plan


def scans_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of a plan that read a table."""
    if "Relation Name" in plan and "Scan" in plan["Node Type"]:
        yield plan
    for below in plan.get("Plans", ()):
        yield from scans_of(below)


def _is_bounded(scan: dict[str, Any]) -> bool:
    conditions = (scan.get(name, "") for name in ("Index Cond", "Recheck Cond", "TID Cond"))
    return bool(_OWN.sub("", "".join(conditions)))
