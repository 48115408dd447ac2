"""Participants that are one person: who belongs together."""

from __future__ import annotations

from uuid import UUID

from services.core.db import Connection, rows_as
from services.operations.memory.people import SQL, Person


async def same_person(conn: Connection, workspace: str, participant_id: UUID) -> list[Person]:
    """The other participants who are the same person, by address."""
    args = {"workspace": workspace, "participant_id": participant_id}
    return await rows_as(conn, Person, SQL.same_person, args)
