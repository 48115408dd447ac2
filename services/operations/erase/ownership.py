"""Whose an event is, by its key, and which events of a person's keys stay, since somebody else wrote them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from schemas.events.mail import EmailRead
from schemas.events.threads import MailAttached
from services.core.bus.event_store import EventRow
from services.core.keys.aead import KEY, is_sealed
from services.core.keys.keyring import People

MAILS = (EmailRead.TYPE, MailAttached.TYPE)


def key_of(row: EventRow) -> UUID | None:
    """The key that an event is sealed with, whether it has been opened or not."""
    sealed = row["data"] if is_sealed(row["data"]) else row.get("sealed")
    return UUID(sealed[KEY]) if sealed else None


def wrote(row: EventRow, people: People) -> bool:
    """Whether one of the people is the author of a mail."""
    author = row["data"].get("participant_id")
    return author is not None and UUID(author) in people


def kept(rows: Iterable[EventRow], people: People) -> list[EventRow]:
    """The mails among them that others wrote, and their copies in a thread: these stay, under a key of the others."""
    readable = [row for row in rows if key_of(row) and not is_sealed(row["data"]) and row["type"] in MAILS]
    theirs = _written_by_others(readable, people)
    return [row for row in readable if row["data"]["mail_id"] in theirs]


def _written_by_others(rows: Collection[EventRow], people: People) -> set[str]:
    return {row["data"]["mail_id"] for row in rows if row["type"] == EmailRead.TYPE and _by_another(row, people)}


def _by_another(row: EventRow, people: People) -> bool:
    return row["data"]["participant_id"] is not None and not wrote(row, people) and not row["data"]["report"]
