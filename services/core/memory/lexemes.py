"""The words of a query as the full-text index knows them."""

from __future__ import annotations

from psycopg.rows import tuple_row

from services.core.db.pool import Connection
from services.core.db.sql import queries

LEXEMES = queries(__file__, "lexemes.sql")


async def query_lexemes(conn: Connection, text: str) -> list[str]:
    """The stems of a query, stop words left out."""
    async with conn.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(LEXEMES.stems, {"text": text})).fetchone()
    return list(row[0]) if row else []
