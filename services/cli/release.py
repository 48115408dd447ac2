"""`correspondent deliveries release`: a restored deployment may send again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from services.cli.terminal import console
from services.core.db import fetch_one
from services.operations.deployment import database_here


def release(context: typer.Context) -> None:
    """Release the replies that a restore holds back.

    Look at the Sent folder of the inbox and at the unknown replies first.
    """
    home: Path = context.obj
    asyncio.run(_release(home))


async def _release(home: Path) -> None:
    from services.operations.backup.restore import SQL
    from services.operations.rebuild.shadow_schema import connected

    settings = await database_here(home)
    workspace = {"workspace": settings.workspace}
    async with connected(settings.database_url) as conn:
        hold = await fetch_one(conn, SQL.hold, workspace)
        await conn.execute(SQL.release_sending, workspace)
    if hold is None:
        console.print("Nothing is held.")
    else:
        console.print(f"Held since {hold['since']:%Y-%m-%d %H:%M} UTC; what waits leaves within minutes.")
