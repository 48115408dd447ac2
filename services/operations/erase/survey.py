"""Reads the history once and says what of it is about a person. Nothing is changed.

Invariants
- A person's events are those under a key of theirs. What lies under the keys of others alone is read for one thing
  only: which of the person's words others said too.
- A word is the person's own only where nobody else said it: neither another person, nor a document, nor this program.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from schemas.events import EVENTS
from schemas.events.mail import EmailRead
from schemas.events.memory import FactRecorded, ParticipantSeen
from schemas.events.threads import MailAttached
from services.core.archive.archive import Archive
from services.core.archive.history import NoKeys, archived_of, opened_archive
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, keys_of, queries, rows_as
from services.core.ids import participant_id
from services.core.keys.aead import KEY
from services.core.keys.keyring import People
from services.core.mailbox import MailboxKey
from services.operations.erase.words import (
    Marks,
    Redactor,
    full_name,
    is_distinctive,
    marks,
    message_id,
    texts,
    words_of,
)

SQL = queries(__file__)
BATCH = 1000
_FIELDS = " ".join(name for one in EVENTS.values() for name in (one.TYPE, *one.model_fields))


@dataclass(slots=True)
class Survey:
    """What is known of a person. `keys` are theirs, alone or with others; `said` is what others say of the marks."""

    workspace: str
    people: People
    keys: dict[UUID, People]
    addresses: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    message_ids: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    said_outside: set[str] = field(default_factory=set)  # in what has no key of the person's
    events: int = 0

    @property
    def candidates(self) -> Marks:
        """Whatever could tell the person, were nobody else to say it."""
        return marks(self.addresses, self.names, self.message_ids, self.own)

    @property
    def marks(self) -> Marks:
        """What a search for the person looks for."""
        return self.candidates.without(self.said | self.said_outside)

    @property
    def redactor(self) -> Redactor:
        """Takes the person out of the mails that others wrote to them: addresses, and names that are theirs alone."""
        addresses = marks(self.addresses, (), (), ()).phrases
        names = {one for name in self.names if (one := full_name(name))}
        ids = {found for one in self.message_ids if (found := message_id(one))} - self.said_outside
        own = {one for one in names - self.said_outside if is_distinctive(one)}
        return Redactor(addresses | own, frozenset(names), frozenset(ids))

    def is_own(self, row: EventRow) -> bool:
        """Whether an event goes with the person; what was stored before there were keys goes by its subject."""
        key = key_of(row)
        return key in self.keys if key else row.data_subject in self.people

    def learn(self, row: EventRow) -> None:
        """Names and words of the person, from what they wrote and what was recorded of them."""
        data = row.data
        self.events += 1
        if row.is_sealed or not wrote(row, self.people):
            return
        if row.type == EmailRead.TYPE and data.get("author"):
            self._learn_mail(data)
        elif row.type == ParticipantSeen.TYPE:
            self._learn_name(data["addr"], data["name"])
        elif row.type == FactRecorded.TYPE:
            self.own |= words_of(data["value"])

    def give_way(self, rows: Collection[EventRow]) -> None:
        """What names the author of one of these mails, or the mail itself, is not the person's, whoever claimed it."""
        names = {full_name(row.data["author"]["name"]) for row in rows if row.data.get("author")}
        ids = {message_id(row.data.get("message_id", "")) for row in rows}
        self.names = {one for one in self.names if full_name(one) not in names - {""}}
        self.message_ids = {one for one in self.message_ids if message_id(one) not in ids}

    def _learn_mail(self, data: dict[str, Any]) -> None:
        self._learn_name(data["author"]["addr"], data["author"]["name"])
        self.own |= words_of(f"{data['subject']} {data['text']}")
        self.message_ids.add(data["message_id"])

    def _learn_name(self, addr: str, name: str) -> None:
        if participant_id(self.workspace, MailboxKey(addr)) in self.people:
            self.addresses.add(addr)
            self.names |= {name} - {""}


@dataclass(frozen=True, slots=True)
class Listener:
    """Notes which of the person's words others say. Made when all that the person said has been learned."""

    found: Survey
    candidates: Marks

    def hear(self, said: Any) -> None:
        """Somebody else says this: JSON data, or a text."""
        self.found.said_outside |= self._among(said)

    def hear_kept(self, rows: Collection[EventRow]) -> None:
        """Others wrote these, to the person too: they stay, without the person."""
        redactor = self.found.redactor
        for row in rows:
            self.found.said |= self._among(redactor.redacted(row.data))

    def _among(self, said: Any) -> set[str]:
        return {one for text in texts(said) for one in self.candidates.found_in(text)}


def listener(found: Survey) -> Listener:
    """One who knows what the person said."""
    return Listener(found, found.candidates)


async def recognised(
    conn: Connection, workspace: str, people: People, names: Collection[str] = (), archive: Archive | None = None
) -> Survey:
    """What is sealed with a key of theirs: their names and addresses, how many events. `names` are known as well."""
    return (await _learned(conn, workspace, people, names, archive))[0]


async def survey(
    conn: Connection, workspace: str, people: People, names: Collection[str] = (), archive: Archive | None = None
) -> Survey:
    """Read all that is stored. `names` are the addresses that are known as well: one that was typed.

    What others wrote is read last, since by then it is known which words to listen for.
    """
    found, of_others = await _learned(conn, workspace, people, names, archive)
    ears = listener(found)
    async for row in everything(conn, archive):
        if not found.is_own(row) and not row.is_sealed:
            ears.hear(row.data)
    for own in await fetch_all(conn, SQL.product_words):
        ears.hear(own["words"])
    ears.hear(_FIELDS)
    ears.hear_kept(of_others)
    return found


async def _learned(
    conn: Connection, workspace: str, people: People, names: Collection[str], archive: Archive | None
) -> tuple[Survey, list[EventRow]]:
    if keys_of(conn) is None:
        raise NoKeys
    held = await fetch_all(conn, SQL.keys, {"workspace": workspace, "people": list(people)})
    found = Survey(workspace, people, {row["key_id"]: frozenset(row["owners"]) for row in held}, set(names))
    rows = await sealed_rows(conn, found, found.keys, archive)
    for row in rows:
        found.learn(row)
    of_others = kept(rows, people)
    found.give_way(of_others)
    return found, of_others


async def sealed_rows(
    conn: Connection, found: Survey, keys: Collection[UUID], archive: Archive | None
) -> list[EventRow]:
    """The events that are sealed with some keys, and those of the person from before there were keys, opened."""
    archived = await archived_of(conn, archive, lambda row: _is_among(found, row, keys))
    args = {"workspace": found.workspace, "people": list(found.people), "keys": [str(one) for one in keys]}
    return archived + await rows_as(conn, EventRow.of, SQL.own_events, args)


def _is_among(found: Survey, row: EventRow, keys: Collection[UUID]) -> bool:
    key = key_of(row)
    return row.workspace == found.workspace and (key in keys if key else row.data_subject in found.people)


async def everything(conn: Connection, archive: Archive | None) -> AsyncIterator[EventRow]:
    """Every event that is stored, in order, opened where it can be; of every workspace, as a proof searches all."""
    async for row in opened_archive(conn, archive):
        yield row
    after = 0
    while rows := await rows_as(conn, EventRow.of, SQL.history, {"after": after, "limit": BATCH}):
        for row in rows:
            yield row
        after = rows[-1].seq


# Whose an event is, by its key, and which events of a person's keys stay, since somebody else wrote them. Pure.
MAILS = (EmailRead.TYPE, MailAttached.TYPE)


def key_of(row: EventRow) -> UUID | None:
    """The key that an event is sealed with, whether it has been opened or not."""
    return UUID(row.sealed_form[KEY]) if row.sealed_form else None


def wrote(row: EventRow, people: People) -> bool:
    """Whether one of the people is the author of a mail."""
    author = row.data.get("participant_id")
    return author is not None and UUID(author) in people


def kept(rows: Iterable[EventRow], people: People) -> list[EventRow]:
    """The mails among them that others wrote, and their copies in a thread: these stay, under a key of the others."""
    readable = [row for row in rows if key_of(row) and not row.is_sealed and row.type in MAILS]
    theirs = _written_by_others(readable, people)
    return [row for row in readable if row.data["mail_id"] in theirs]


def _written_by_others(rows: Collection[EventRow], people: People) -> set[str]:
    return {row.data["mail_id"] for row in rows if row.type == EmailRead.TYPE and _by_another(row, people)}


def _by_another(row: EventRow, people: People) -> bool:
    return row.data["participant_id"] is not None and not wrote(row, people) and not row.data["report"]
