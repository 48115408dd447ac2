"""Reads the history once and says what of it is about a person. Nothing is changed.

Invariant: what others wrote counts only for the words that the person shares with them; it is never taken for theirs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from schemas.events import EVENTS
from schemas.events.documents import DocumentContinued, DocumentIndexed
from schemas.events.mail import EmailRead, MailReceived
from schemas.events.memory import FactRecorded, ParticipantSeen
from schemas.events.threads import MailAttached
from services.core.archive.archive import Archive
from services.core.archive.history import NoKeys, archived_of, opened_archive
from services.core.db import Connection, fetch_all, keys_of, queries
from services.core.ids import participant_id
from services.core.keys.aead import KEY, is_sealed
from services.core.keys.keyring import People
from services.tools.erase.words import Marks, Redactor, is_phrase, marks, texts, words_of

SQL = queries(__file__)
BATCH = 1000

Row = dict[str, Any]

WRITTEN = frozenset({EmailRead.TYPE, MailAttached.TYPE, DocumentIndexed.TYPE, DocumentContinued.TYPE})
SAID = ("subject", "text", "author", "title", "chunks")  # what of them is somebody's own words


@dataclass(slots=True)
class Survey:
    """What is known of a person. `keys` are theirs, alone or with others; under `touched` others name them."""

    workspace: str
    people: People
    keys: dict[UUID, People]
    names: set[str] = field(default_factory=set)
    message_ids: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    touched: set[UUID] = field(default_factory=set)
    events: int = 0

    def redactor(self, kind: str) -> Redactor:
        """Takes the person out of what others wrote: their name. Out of what was made from it: their words too."""
        phrases = frozenset(one.casefold() for one in self.names | self.message_ids if is_phrase(one))
        return Redactor(phrases, frozenset() if kind in WRITTEN else self.marks.words)

    @property
    def marks(self) -> Marks:
        """What a search for the person looks for."""
        return marks(self.names | self.message_ids, self.own, self.others)

    def is_own(self, row: Row) -> bool:
        """Whether an event goes with the person; what was stored before there were keys goes by its subject."""
        key = key_of(row)
        return key in self.keys if key else row["data_subject"] in self.people


async def survey(
    conn: Connection, workspace: str, people: People, names: Collection[str] = (), archive: Archive | None = None
) -> Survey:
    """Read all that the workspace has stored. `names` are known besides: an address that was typed.

    It is read twice: what others wrote says which words are the person's alone, and then these are looked for in what
    was made of other people's mails.
    """
    keys = keys_of(conn)
    if keys is None:
        raise NoKeys
    held = await fetch_all(conn, SQL.keys, {"workspace": workspace, "people": list(people)})
    found = Survey(workspace, people, {row["key_id"]: frozenset(row["owners"]) for row in held}, set(names))
    for row in await sealed_rows(conn, found, found.keys, archive):
        found.events += 1
        _learn(found, row)
    async for row in everything(conn, workspace, archive):
        if row["type"] in WRITTEN and (not found.is_own(row) or _is_of_another(found, row)):
            _compare(found, row)
    redactors = {kind: found.redactor(kind) for kind in EVENTS}
    async for row in everything(conn, workspace, archive):
        key = key_of(row)
        of_another = key and key not in found.keys and row["type"] != MailReceived.TYPE and not is_sealed(row["data"])
        if key and of_another and redactors[row["type"]].touches(row["data"]):
            found.touched.add(key)
    return found


async def sealed_rows(conn: Connection, found: Survey, keys: Collection[UUID], archive: Archive | None) -> list[Row]:
    """The events that are sealed with some keys, and those of the person from before there were keys, opened."""
    archived = await archived_of(conn, archive, lambda row: _is_among(found, row, keys))
    args = {"workspace": found.workspace, "people": list(found.people), "keys": [str(one) for one in keys]}
    return [{**row, "archived": True} for row in archived] + await fetch_all(conn, SQL.own_events, args)


def _is_among(found: Survey, row: Row, keys: Collection[UUID]) -> bool:
    key = key_of(row)
    return row["workspace"] == found.workspace and (key in keys if key else row["data_subject"] in found.people)


def key_of(row: Row) -> UUID | None:
    """The key that an event is sealed with, whether it has been opened or not."""
    sealed = row["data"] if is_sealed(row["data"]) else row.get("sealed")
    return UUID(sealed[KEY]) if sealed else None


def wrote(row: Row, people: People) -> bool:
    """Whether one of the people is the author of a mail."""
    author = row["data"].get("participant_id")
    return author is not None and UUID(author) in people


def _learn(found: Survey, row: Row) -> None:
    """Names and words of the person, from what they wrote and what was recorded of them."""
    data = row["data"]
    if is_sealed(data):
        return
    if row["type"] == EmailRead.TYPE and wrote(row, found.people) and data.get("author"):
        person = participant_id(found.workspace, data["author"]["addr"])
        if person in found.people:
            found.names |= {name for name in (data["author"]["addr"], data["author"]["name"]) if name}
            found.own |= words_of(f"{data['subject']} {data['text']}")
            found.message_ids.add(data["message_id"])
    elif row["type"] == ParticipantSeen.TYPE and wrote(row, found.people):
        found.names |= {name for name in (data["addr"], data["name"]) if name}
    elif row["type"] == FactRecorded.TYPE and wrote(row, found.people):
        found.own |= words_of(data["value"])


def _is_of_another(found: Survey, row: Row) -> bool:
    return row["type"] == EmailRead.TYPE and not is_sealed(row["data"]) and not wrote(row, found.people)


def _compare(found: Survey, row: Row) -> None:
    """The words of others are not the person's alone."""
    if not is_sealed(row["data"]):
        said = {name: one for name, one in row["data"].items() if name in SAID}
        found.others |= words_of(" ".join(texts(found.redactor(row["type"]).redacted(said))))


async def everything(conn: Connection, workspace: str, archive: Archive | None) -> AsyncIterator[Row]:
    """Every event that the workspace has stored, opened where it can be, in order."""
    async for row in opened_archive(conn, archive):
        if row["workspace"] == workspace:
            yield row
    after = 0
    while rows := await fetch_all(conn, SQL.history, {"workspace": workspace, "after": after, "limit": BATCH}):
        for row in rows:
            yield row
        after = rows[-1]["seq"]
