"""What tests of an erase ask of a deployment: who is meant, and which tables are no fold of the history."""

from __future__ import annotations

from deploy.local import Endpoints
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.db.migrate import migrate
from services.operations.erase.person import person
from services.operations.erase.survey import Survey, survey
from services.operations.erase.unread_words import hear_unread
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from tests.support.stack import fresh_database


async def found(app: App, who: str) -> Survey:
    """What the deployment holds of a person, as `correspondent forget` finds it."""
    people, names = await person(app, who)
    async with app.database.reading() as conn:
        known = await survey(conn, app.settings.workspace, people, names, archive_of(app.settings))
    await hear_unread(app, known)
    return known


async def differences(app: App, stack: Endpoints) -> set[str]:
    """The tables that a fold of the history makes otherwise than they are."""
    with fresh_database(stack.database) as url:
        migrate(url)
        async with app.database.reading() as conn:
            await fold(conn, url, archive=archive_of(app.settings))
            live = await state_hash(conn)
        async with connected(url) as target:
            folded = await state_hash(target)
    return {name for name in live if live[name] != folded[name]}
