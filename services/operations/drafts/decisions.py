"""A person's word on a draft that waits, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.replies import DraftDecided, SentFile
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.sealing import key_for
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.core.keys import Erased
from services.core.own_wording import is_own_wording
from services.core.units import MB
from services.mail.content_types import UNKNOWN, claimed_by_name
from services.operations.drafts.listing import SQL, HeldDraft
from services.operations.requests import decision_on

CONSUMER = "send_email"
LONGEST_NAME = 200  # characters


class FilesTooLarge(Permanent):
    """What a person attaches is larger than a reply may be."""


class WordsWanted(Permanent):
    """A draft whose level is `human_only` leaves in a person's own words alone."""


def check_wording(held: HeldDraft, word: DraftDecided) -> None:
    """Raise `WordsWanted` where a person approves a text that is not theirs and has to be."""
    if word.approve and not is_own_wording(held.level, held.text, word.text):
        raise WordsWanted("a person words this reply: approve it with your own text, or answer the thread yourself")


@dataclass(frozen=True, slots=True)
class Became:
    """Where a reply stands now; in the state `draft` it still waits, and the word had no effect."""

    state: str
    detail: str


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a person attaches. Its name says what it is; a mail goes along closed, as its bytes."""

    filename: str
    content: bytes = field(repr=False)

    @property
    def content_type(self) -> str:
        """The media type that it leaves with."""
        claimed = claimed_by_name(self.filename)
        return UNKNOWN if claimed.startswith(("message/", "multipart/")) else claimed


async def keep_files(app: App, word: EventData, files: Sequence[NewFile]) -> tuple[SentFile, ...]:
    """Store what a person attaches, under the key of the thread's people, who may be erased.

    Raises `FilesTooLarge`, and `Erased` where an erase has taken the thread since it was read: no key of it is made.
    """
    most = app.settings.send.max_files_mb
    if sum(len(one.content) for one in files) > most * MB:
        raise FilesTooLarge(f"the files are larger than send.max_files_mb = {most:g} MB together")
    if not files:
        return ()
    async with app.database.transaction(app.settings.workspace) as conn:
        key = await key_for(conn, app.settings.workspace, word)
        if await event_store.is_gone(conn, app.settings.workspace, word):
            raise Erased
    return tuple(
        [
            SentFile(
                filename=one.filename[:LONGEST_NAME],
                content_type=one.content_type,
                size=len(one.content),
                blob=await app.blobs.put(one.content, key),
            )
            for one in files
        ]
    )


async def decide(app: App, word: DraftDecided, *, timeout_s: float) -> Became:
    """Say it, and wait for what became of it. Raises `NotDecidedYet`."""
    await decision_on(app, word, CONSUMER, timeout_s=timeout_s)
    return await state_of(app, word.reply_id)


async def state_of(app: App, reply_id: UUID) -> Became:
    """What has become of a reply so far."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.state, {"workspace": app.settings.workspace, "reply_id": reply_id})
    assert row is not None
    return Became(**row)
