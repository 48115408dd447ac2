"""Who is meant: a participant's id, or an address that wrote to us or was written to."""

from __future__ import annotations

from uuid import UUID

from services.core.db import fetch_one
from services.core.errors import Permanent
from services.core.house import House
from services.core.ids import participant_id
from services.core.keys.keyring import People
from services.tools.erase.survey import SQL


class NoSuchPerson(Permanent):
    """Neither an address nor a participant's id."""


async def person(house: House, typed: str) -> tuple[People, frozenset[str]]:
    """The participant and the addresses that are known before anything is read. Raises `NoSuchPerson`.

    An address need not be known: who was erased has none in the tables, and can still be searched for.
    """
    typed = typed.strip()
    if "@" in typed:
        return frozenset({participant_id(house.settings.workspace, typed)}), frozenset({typed.casefold()})
    try:
        id = UUID(typed)
    except ValueError:
        raise NoSuchPerson(f"{typed[:60]!r} is neither an address nor a participant's id") from None
    args = {"workspace": house.settings.workspace, "id": id}
    async with house.database.reading() as conn:
        row = await fetch_one(conn, SQL.address, args)
    return frozenset({id}), frozenset({row["addr"].casefold()} if row else ())
