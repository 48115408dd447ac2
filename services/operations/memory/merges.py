"""Participants that are one person: who belongs together."""

from __future__ import annotations

from uuid import UUID

from services.core.db import Connection, rows_as
from services.operations.memory.people import SQL, NobodyFound, Person, find_people


async def same_person(conn: Connection, workspace: str, participant_id: UUID) -> list[Person]:
    """The other participants who are the same person, by address."""
    args = {"workspace": workspace, "participant_id": participant_id}
    return await rows_as(conn, Person, SQL.same_person, args)


async def pairs(conn: Connection, workspace: str, who: str, into: str) -> list[tuple[Person, Person]]:
    """Whom two addresses, or ids, name in each space that knows both: no space is merged with another.

    Raises `NobodyFound` where one is known nowhere, or no space knows both.
    """
    ones, others = await find_people(conn, workspace, who), await find_people(conn, workspace, into)
    found = [(one, other) for one in ones for other in others if one.space == other.space]
    if not found:
        raise NobodyFound(f"no space of memory knows both {who!r} and {into!r}, and what one knows another never does")
    return found
