"""What people of ours do meanwhile: decide the drafts that wait, have hard cases investigated, close incidents with an answer.

And the rounds of outreach, asked for again and again, as a keeper of time would that forgets what it asked. What is
asked for is lost with nobody: each is tried until it is on the log.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar
from uuid import UUID, uuid5

import psycopg

from schemas.events import EventData
from schemas.events.incidents import IncidentRequested
from schemas.events.investigations import InvestigationRequested
from schemas.events.outreach import OutreachDue, UnsubscribeRequested
from schemas.events.replies import DraftDecided
from services.core.app import App
from services.core.db import fetch_all
from services.core.errors import Temporary
from services.core.ids import incident_board_id, outreach_book_id
from services.core.keys import Erased
from services.operations import outreach
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.requests import ask
from tests.support.app import INBOX

T = TypeVar("T")

LOOK_EVERY_S = 1.0
AGAIN_AFTER_S = 0.5
ROUNDS = 8
WANT_NONE = 4  # every one of so many to whom something was proposed
REJECTED, EDITED = 0.12, 0.2  # of the drafts
OPEN = "SELECT incident_id FROM incidents WHERE is_open"
WRITTEN = """
SELECT gen_random_uuid() AS investigation_id, m.participant_id, m.thread_id
FROM mails m JOIN threads t USING (thread_id, participant_id)
WHERE m.trusted AND m.verdict = 'answer' AND NOT EXISTS (SELECT FROM investigations i WHERE i.participant_id = m.participant_id)
GROUP BY m.participant_id, m.thread_id ORDER BY count(*) DESC, m.thread_id"""  # those who wrote most
PROPOSED = "SELECT outreach_id, participant_id FROM outreach ORDER BY outreach_id"
PLACE = uuid5(UUID(int=0), "people of a chaos run")


async def decide_drafts(app: App, seed: int) -> None:
    """Decide each draft as it comes, until cancelled."""
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        await decide_waiting(app, seed)


async def decide_waiting(app: App, seed: int) -> int:
    """Decide the drafts that wait: most are approved as they are, some in other words, some rejected; how many."""

    async def waiting() -> list[HeldDraft]:
        async with app.database.reading() as conn:
            return list(await waiting_drafts(conn, app.settings.workspace))

    drafts = await _until_done(waiting)
    for one in drafts:
        await _ask(app, _word(one, seed), f"{one.reply_id}/{one.text_sha256}/{one.thread_version}")
    return len(drafts)


async def reach_out(app: App, lasts_s: float) -> None:
    """Have the day's round made some times, by the keeper of time and besides; some of those proposed to want no more."""
    for number in range(ROUNDS):
        await asyncio.sleep(lasts_s / (ROUNDS + 1))
        await reach_out_now(app, number)


async def reach_out_now(app: App, number: int) -> None:
    """One round, and whoever was proposed something by now and wants none."""
    await _until_done(lambda: outreach.ask_for_rounds(app))
    book = outreach_book_id(app.settings.workspace)
    await _ask(app, OutreachDue(book_id=book, inbox=INBOX["name"], due_at=app.now()), f"round/{number}")
    await unsubscribe_some(app, f"{number % 2}")  # twice


async def investigate_some(app: App, customers: asyncio.Lock, lasts_s: float) -> None:
    """Have the customers of a few threads investigated, two at once; `customers` is held by who erases one."""
    for _ in range(ROUNDS):
        await asyncio.sleep(lasts_s / (ROUNDS + 1))
        async with customers:
            for row in (await _rows(app, WRITTEN))[:2]:
                asked = InvestigationRequested.model_validate({**row, "question": "What do they need?", "by": "grace"})
                await _ask(app, asked, f"investigation/{row['investigation_id']}")


async def unsubscribe_some(app: App, name: str) -> None:
    """Some of those to whom something was proposed by now want no more of it."""
    for row in (await _rows(app, PROPOSED))[::WANT_NONE]:
        book = outreach_book_id(app.settings.workspace)
        asked = UnsubscribeRequested(book_id=book, outreach_id=row["outreach_id"], how="link")
        await _ask(app, asked, f"unsubscribe/{row['outreach_id']}/{name}")


async def close_incidents(app: App) -> int:
    """Close each incident that is open, with an answer to those who reported it; how many."""
    board = incident_board_id(app.settings.workspace, INBOX["name"])
    said = {"board_id": board, "inbox": INBOX["name"], "op": "close", "answer": "It works again.", "by": "grace"}
    found = await _rows(app, OPEN)
    for row in found:
        asked = IncidentRequested.model_validate({**said, "incident_id": row["incident_id"]})
        await _ask(app, asked, f"close/{row['incident_id']}")
    return len(found)


def _word(draft: HeldDraft, seed: int) -> DraftDecided:
    """What somebody makes of a draft: the same of the same draft."""
    chance = random.Random(f"{seed}/{draft.reply_id}").random()
    bound = {"text_sha256": draft.text_sha256, "thread_version": draft.thread_version}
    edited = f"{draft.text}\n\nPS: we are here until six." if REJECTED <= chance < EDITED else ""
    said = {"reply_id": draft.reply_id, "thread_id": draft.thread_id, "text": edited, "by": "grace", **bound}
    return DraftDecided.model_validate({**said, "approve": chance >= REJECTED})


async def _ask(app: App, command: EventData, name: str) -> None:
    """Ask until it is on the log; what an erase took since it was read is refused, and asked for no more."""
    with suppress(Erased):
        await _until_done(lambda: ask(app, command, uuid5(PLACE, f"{app.settings.database_url}/{name}")))


async def _rows(app: App, query: str) -> list[dict[str, UUID]]:
    async def found() -> list[dict[str, UUID]]:
        async with app.database.reading() as conn:
            return await fetch_all(conn, query)

    return await _until_done(found)


async def _until_done(what: Callable[[], Awaitable[T]]) -> T:
    """What it gives, tried again while the database or the broker is away."""
    while True:
        try:
            return await what()
        except (Temporary, psycopg.Error, OSError):
            await asyncio.sleep(AGAIN_AFTER_S)
