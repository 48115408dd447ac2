"""A restored deployment taken back further, to any moment before its backup: what came later has not happened.

Causes and effects share their event time, so nothing is left half done; timers alone divide them, and those that were
pending at the moment are set again. One that was moved since is lost.
"""

from __future__ import annotations

from datetime import datetime

from psycopg import sql

from services.core.db import fetch_one, queries
from services.core.errors import Permanent
from services.core.settings import Settings
from services.operations.rebuild.shadow_schema import connected

SQL = queries(__file__)


class MomentArchived(Permanent):
    """The moment lies in a time whose events are in files already, and files are not cut."""


def refuse_archived(archived_until: datetime | None, until: datetime) -> None:
    """Raises `MomentArchived`."""
    if archived_until and archived_until > until:
        raise MomentArchived(f"events up to {archived_until:%Y-%m-%d %H:%M} UTC are archived; name a later moment")


async def take_back(settings: Settings, until: datetime) -> int:
    """Forget what happened after an event time, before tables are rebuilt; how many events. Raises `MomentArchived`."""
    async with connected(settings.database_url) as conn, conn.transaction():
        archived = await fetch_one(conn, SQL.newest_archived)
        assert archived is not None
        refuse_archived(archived["at"], until)
        await conn.execute(sql.SQL(SQL.choose_later).format(until=sql.Literal(until)))
        for statement in (SQL.forget_receipts, SQL.forget_later_timers, SQL.set_timers_again, SQL.forget_later_work):
            await conn.execute(statement)
        return (await conn.execute(SQL.forget_later)).rowcount
