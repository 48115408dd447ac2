"""Who is meant: a participant's id, or an address that wrote to us or was written to."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one
from services.core.errors import Permanent
from services.core.ids import former_participant_id, participant_id, participant_ids
from services.core.keys.keyring import People
from services.core.mailbox import MailboxKey
from services.operations.erase.survey import SQL


class NoSuchPerson(Permanent):
    """Neither an address nor a participant's id."""


async def person(app: App, typed: str) -> tuple[People, frozenset[str]]:
    """The participants and the addresses that are known before anything is read. Raises `NoSuchPerson`.

    Who was merged with somebody is the same person under another address, and meant as well; so is whoever has one of
    these addresses in another space of memory. An address need not be known: who was erased has none in the tables, and
    can still be searched for.
    """
    typed, workspace = typed.strip(), app.settings.workspace
    addresses = frozenset({MailboxKey(typed)} if "@" in typed else ())
    typed_id = participant_id(workspace, MailboxKey(typed)) if addresses else _id(typed)
    people, more = frozenset[UUID](), frozenset({typed_id})
    async with app.database.reading() as conn:
        spaces = app.settings.spaces.union(row["space"] for row in await fetch_all(conn, SQL.spaces, _in(workspace)))
        while people != more:
            people = more
            rows = await fetch_all(conn, SQL.person, _in(workspace, ids=list(people)))
            addresses |= {MailboxKey(row["addr"]) for row in rows if _is_own(workspace, row)}
            more = people.union(row["participant_id"] for row in rows)
            more |= {id for addr in addresses for id in participant_ids(workspace, addr, spaces)}
        former = await former_ids(conn, workspace, typed, typed_id) if "@" in typed else frozenset[UUID]()
    return people | former, addresses.union(MailboxKey(row["addr"]) for row in rows if row["addr"])


def _is_own(workspace: str, row: DictRow) -> bool:
    """Whether a participant is kept under the id of their mailbox: ids were shared before there were `MailboxKey`s."""
    addr = row["addr"]
    return bool(addr) and row["participant_id"] == participant_id(workspace, MailboxKey(addr), row["space"])


def _in(workspace: str, **args: list[UUID]) -> dict[str, Any]:
    return {"workspace": workspace, **args}


def _id(typed: str) -> UUID:
    try:
        return UUID(typed)
    except ValueError:
        raise NoSuchPerson(f"{typed[:60]!r} is neither an address nor a participant's id") from None


# The id under which somebody was kept before addresses were compared by `MailboxKey`: their old mails have its key.


class SharesKey(Permanent):
    """Their old mails are sealed with somebody else's key, which would have to be destroyed with it."""


async def former_ids(conn: Connection, workspace: str, address: str, own: UUID) -> People:
    """The former id, where old mails are sealed under it and nobody else's are. Raises `SharesKey` where they are."""
    former = former_participant_id(workspace, address.strip())
    if former == own:
        return frozenset()
    row = await fetch_one(conn, SQL.kept_under, {"workspace": workspace, "own": own, "former": former})
    if not (row and row["stored"]):
        return frozenset()
    if row["shared"]:
        raise SharesKey(
            f"old mails of {address[:100]} are sealed with the key of participant {former}, whose address full case "
            f"folding makes of theirs: forget {former} as well, and first, or nothing is destroyed"
        )
    return frozenset({former})
