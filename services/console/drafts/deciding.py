"""A person's word on a draft that waits, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from schemas.events.replies import DraftDecided
from services.console.asking import ask, decided
from services.console.drafts.reading import SQL
from services.core.db import fetch_one
from services.core.errors import Temporary
from services.core.house import House

CONSUMER = "send_email"


class DraftNotDecidedYet(Temporary):
    """The word is on the log, and send_email has not come to it yet: is the house running?"""


@dataclass(frozen=True, slots=True)
class Became:
    """Where a reply stands now; in the state `draft` it still waits, and the word had no effect."""

    state: str
    detail: str


async def decide(house: House, word: DraftDecided, *, timeout_s: float) -> Became:
    """Say it, and wait for what became of it. Raises `DraftNotDecidedYet`."""
    asked = await ask(house, word)
    if not await decided(house, asked, CONSUMER, timeout_s=timeout_s):
        raise DraftNotDecidedYet
    return await standing(house, word.reply_id)


async def standing(house: House, reply_id: UUID) -> Became:
    """Where a reply stands."""
    async with house.database.reading() as conn:
        row = await fetch_one(conn, SQL.state, {"workspace": house.settings.workspace, "reply_id": reply_id})
    assert row is not None
    return Became(**row)
