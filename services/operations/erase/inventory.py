"""What is kept of a person, found and counted: what an export gives, and what an erase destroys."""

from __future__ import annotations

from collections.abc import Mapping

from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.db import fetch_one
from services.operations.erase.person import person
from services.operations.erase.survey import SQL, Survey, recognised, survey


async def found_of(app: App, typed: str) -> Survey:
    """All that is known of the person whom an address or a participant's id names. It reads the whole history.

    Raises `NoSuchPerson`, `ArchiveMissing` or `ArchiveDamaged`.
    """
    people, names = await person(app, typed)
    async with app.database.reading() as conn:
        return await survey(conn, app.settings.workspace, people, names, archive_of(app.settings))


async def theirs_of(app: App, typed: str) -> Survey:
    """What is theirs, without what others say of it: enough to count and to export. Raises as `found_of` does."""
    people, names = await person(app, typed)
    async with app.database.reading() as conn:
        return await recognised(conn, app.settings.workspace, people, names, archive_of(app.settings))


async def counts_of(app: App, found: Survey) -> Mapping[str, int]:
    """How much an erase would destroy, by kind."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.inventory, {"workspace": found.workspace, "people": list(found.people)})
    assert row is not None
    return {**row, "events": found.events, "keys": len(found.keys)}
