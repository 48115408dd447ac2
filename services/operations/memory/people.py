"""Who is meant: people are named by address or by id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.app import App
from services.core.db import Connection, fetch_one, queries, rows_as
from services.core.errors import Permanent
from services.core.mailbox import MailboxKey
from services.core.paging import Listing, Page
from services.operations.typed_words import beginnings_of

SQL = queries(__file__)
NOBODY = UUID(int=0)  # is before everybody
AT_ONCE = 200  # people that are read together
PEOPLE = Listing("participants", (("last_seen_at", "time"), ("participant_id", "id")), descending=True)


class NobodyFound(Permanent):
    """Nobody is known under this address or id."""


class InSeveralSpaces(Permanent):
    """An address is known in several spaces of memory, which keep what they know apart."""


@dataclass(frozen=True, slots=True)
class Person:
    """A participant as the table has them; in each space of memory the same address is another one."""

    participant_id: UUID
    space: str
    addr: str
    name: str
    state: str
    risk: str
    sentiment: float
    tags: list[str]
    first_seen_at: datetime
    last_seen_at: datetime


async def find_person(conn: Connection, workspace: str, who: str) -> Person:
    """The participant of this workspace with an address or an id. Raises `NobodyFound`, `InSeveralSpaces`."""
    found, *others = await find_people(conn, workspace, who)
    if others:
        listed = ", ".join(f"{one.space or 'default'}: {one.participant_id}" for one in (found, *others))
        raise InSeveralSpaces(f"{found.addr} is known in several spaces of memory; give the id of one: {listed}")
    return found


async def find_people(conn: Connection, workspace: str, who: str) -> list[Person]:
    """The same, one for each space that knows the address, the shared one first. Raises `NobodyFound`."""
    args = {"workspace": workspace, "addr": MailboxKey(who), "id": _id(who)}
    found = await rows_as(conn, Person, SQL.person, args)
    if not found:
        raise NobodyFound(f"nobody is known as {who!r}: give an address that has written to us, or a participant's id")
    return found


async def list_people(
    conn: Connection, workspace: str, *, named: str | None = None, limit: int = 50, after: str = ""
) -> Page[Person]:
    """Who wrote last, newest first; `named`: those whose name or address has every word or its beginning.

    Raises `BadCursor`.
    """
    args = {"workspace": workspace} | PEOPLE.args(after, limit)
    if named is None:
        return PEOPLE.page(await rows_as(conn, Person, SQL.people, args), limit)
    args["words"] = beginnings_of(named)
    return PEOPLE.page(await rows_as(conn, Person, SQL.people_named, args), limit) if args["words"] else Page()


async def everybody(app: App, space: str | None, *, after: UUID = NOBODY) -> AsyncIterator[Person]:
    """Everybody, or those of one space, by id, behind the id `after`: whoever writes meanwhile moves nobody."""
    args = {"workspace": app.settings.workspace, "space": space, "after": after, "limit": AT_ONCE}
    while True:
        async with app.database.reading() as conn:
            found = await rows_as(conn, Person, SQL.people_of, args)
        for one in found:
            yield one
        if len(found) < AT_ONCE:
            return
        args["after"] = found[-1].participant_id


async def how_many(app: App, space: str | None) -> int:
    """How many people that are."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.count_people_of, {"workspace": app.settings.workspace, "space": space})
    assert row is not None
    return int(row["people"])


def _id(who: str) -> UUID | None:
    try:
        return UUID(who.strip())
    except ValueError:
        return None


# Participants that are one person: who belongs together.


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
