"""Who is meant: a participant's id, or an address that wrote to us or was written to."""

from __future__ import annotations

from uuid import UUID

from services.core.app import App
from services.core.db import fetch_all
from services.core.errors import Permanent
from services.core.ids import participant_id
from services.core.keys.keyring import People
from services.mail.mailbox import MailboxKey
from services.operations.erase.former import former_ids
from services.operations.erase.survey import SQL


class NoSuchPerson(Permanent):
    """Neither an address nor a participant's id."""


async def person(app: App, typed: str) -> tuple[People, frozenset[str]]:
    """The participants and the addresses that are known before anything is read. Raises `NoSuchPerson`.

    Who was merged with somebody is the same person under another address, and meant as well. An address need not be
    known: who was erased has none in the tables, and can still be searched for.
    """
    typed = typed.strip()
    id = participant_id(app.settings.workspace, MailboxKey(typed)) if "@" in typed else _id(typed)
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.person, {"workspace": app.settings.workspace, "id": id})
        former = await former_ids(conn, app.settings.workspace, typed, id) if "@" in typed else frozenset[UUID]()
    known = {MailboxKey(row["addr"]) for row in rows if row["addr"]}
    return former.union(row["participant_id"] for row in rows), frozenset(
        known | {MailboxKey(typed)} if "@" in typed else known
    )


def _id(typed: str) -> UUID:
    try:
        return UUID(typed)
    except ValueError:
        raise NoSuchPerson(f"{typed[:60]!r} is neither an address nor a participant's id") from None
