"""What tests of an erase ask of a house: who is meant, and which tables are no fold of the history."""

from __future__ import annotations

from deploy.local import Endpoints
from services.core.archive.archive import archive_of
from services.core.db.migrate import migrate
from services.core.house import House
from services.tools.erase.person import person
from services.tools.erase.survey import Survey, survey
from services.tools.erase.unread_words import hear_unread
from services.tools.fold import fold, state_hash
from services.tools.rebuild.beside import connected
from tests.support.stack import fresh_database


async def found(house: House, who: str) -> Survey:
    """What the house holds of a person, as `correspondent forget` finds it."""
    people, names = await person(house, who)
    async with house.database.reading() as conn:
        known = await survey(conn, house.settings.workspace, people, names, archive_of(house.settings))
    await hear_unread(house, known)
    return known


async def differences(house: House, stack: Endpoints) -> set[str]:
    """The tables that a fold of the history makes otherwise than they are."""
    with fresh_database(stack.database) as url:
        migrate(url)
        async with house.database.reading() as conn:
            await fold(conn, url, archive=archive_of(house.settings))
            live = await state_hash(conn)
        async with connected(url) as target:
            folded = await state_hash(target)
    return {name for name in live if live[name] != folded[name]}
