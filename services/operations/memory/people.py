"""Who is meant: people are named by address or by id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.core.db import Connection, queries, row_as, rows_as
from services.core.errors import Permanent
from services.core.paging import Listing, Page
from services.mail.mailbox import MailboxKey
from services.operations.typed_words import beginnings_of

SQL = queries(__file__)
PEOPLE = Listing("participants", (("last_seen_at", "time"), ("participant_id", "id")), descending=True)


class NobodyFound(Permanent):
    """Nobody is known under this address or id."""


@dataclass(frozen=True, slots=True)
class Person:
    """A participant as the table has them."""

    participant_id: UUID
    addr: str
    name: str
    state: str
    risk: str
    sentiment: float
    tags: list[str]
    first_seen_at: datetime
    last_seen_at: datetime


async def find_person(conn: Connection, workspace: str, who: str) -> Person:
    """The participant of this workspace with an address or an id. Raises `NobodyFound`."""
    args = {"workspace": workspace, "addr": MailboxKey(who), "id": _id(who)}
    found = await row_as(conn, Person, SQL.person, args)
    if found is None:
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


def _id(who: str) -> UUID | None:
    try:
        return UUID(who.strip())
    except ValueError:
        return None
