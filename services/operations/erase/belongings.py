"""What is left of some people by their ids: rows of any table, and keys.

Words alone prove little where others say the same ones: whoever plants a person's words would hide what is left.
"""

from __future__ import annotations

from psycopg import sql

from services.core.app import App
from services.core.db import fetch_all, fetch_one
from services.core.keys.keyring import People
from services.operations.erase.survey import SQL
from services.operations.rebuild.shadow_schema import connected


async def belongings(app: App, people: People) -> dict[str, int]:
    """How many rows each table has of these people; that they were erased is not among them."""
    counts = {}
    args = {"people": list(people)}
    async with connected(app.settings.database_url) as conn:
        for row in await fetch_all(conn, SQL.tables_of_people):
            name = sql.Identifier(row["name"])
            counts[row["name"]] = await fetch_one(conn, sql.SQL(SQL.rows_of_people).format(table=name), args)
        counts["subject_keys"] = await fetch_one(conn, SQL.keys_of_people, args)
    return {name: row["count"] for name, row in counts.items() if row and row["count"]}
