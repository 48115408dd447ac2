"""Participants that are one person: who belongs together."""

from __future__ import annotations

from uuid import UUID

from psycopg.rows import class_row

from services.core.db import Connection
from services.operations.memory.people import SQL, Person


async def same_person(conn: Connection, workspace: str, participant_id: UUID) -> list[Person]:
    """The other participants who are the same person, by address."""
    args = {"workspace": workspace, "participant_id": participant_id}
    async with conn.cursor(row_factory=class_row(Person)) as cursor:
        return await (await cursor.execute(SQL.same_person, args)).fetchall()
