"""What an operator asks costs the same after a month and after years: rows are counted, never time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.cli.mails import outcomes
from services.core.app import App
from services.core.paging import Page
from services.operations.memory.people import list_people
from services.operations.threads.listing import list_threads
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.history import PAGE, TABLES, asked_at_start, asked_by_lists, asked_by_status, fill, read_by
from tests.support.plans import bound_statements, read_whole
from tests.support.tending import tending

MAILS = 3000  # ten events each
MOST_ROWS = 12 * (PAGE + 1)  # a page with what is joined to each row; no table of this history is as short
SMALL = {
    "outbox",
    "timers",
    "consumed_marks",
    "undone_events",
    "letter_decisions",
    "documents",
    "journal_other",
    "facts",
    "chunks",
}
LONG = set(TABLES)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with opened_brokerless(settings) as one:
        yield one


async def test_start_status_and_lists_read_tables_from_end_to_end(app: App) -> None:
    """Of 30,000 events and what they made, each statement reads some hundred rows at most, by an index."""
    await fill(app, 0, MAILS)
    asked = [*await asked_at_start(app), *await asked_by_status(app), *await asked_by_lists(app)]
    read = {one.name: await read_by(app, one) for one in asked}
    assert {name: one for name, one in read.items() if one.rows > MOST_ROWS or set(one.whole) - SMALL} == {}
    assert read["threads"].rows >= PAGE
    assert read["mails, its middle"].rows >= PAGE


async def test_each_mail_read_the_log_and_all_mails_from_end_to_end(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A mail that is read, answered and learned from finds its rows by indices, in a deployment with a long history.

    Under row security no index serves an operator that is not leakproof, nor a join with what `coalesce` or a cast makes.
    """
    async with tending(stack, database, topic_prefix, tmp_path) as desk:
        await fill(desk.app, 0, MAILS)
        with bound_statements() as sent:
            thread = await desk.write("I am Ada. Our plan is Team. The export fails. What does it cost for 5 people?")
            await desk.wait(days=1)
            (ours,) = await desk.rows("SELECT message_id FROM deliveries WHERE thread_id = %(id)s", id=thread)
            await desk.write(
                "We are on Pro since March. What did I say of the export?", after=f"<{ours['message_id']}>"
            )
            await desk.wait(days=1)
        found = {" ".join(one.split())[:160]: await read_whole(desk.app, one, args) for one, args in sent.items()}
    assert len(found) > 100
    assert {one: tables & LONG for one, tables in found.items() if tables & LONG} == {}


async def test_the_five_hundred_and_first_thread_could_not_be_reached(app: App) -> None:
    """From page to page every thread, person and mail is met once, in order."""
    await fill(app, 0, 1400)
    async with app.database.reading() as conn:
        workspace = app.settings.workspace
        threads = await every_page(lambda after: list_threads(conn, workspace, limit=500, after=after))
        people = await every_page(lambda after: list_people(conn, workspace, limit=37, after=after))
        mails = await every_page(lambda after: outcomes(conn, workspace, limit=500, after=after))
    assert [one.subject for one in threads] == [f"Question {n}" for n in range(700, 0, -1)]
    assert [one.name for one in people] == [f"Person {n}" for n in range(350, 0, -1)]
    assert [one["outcome"] for one in mails] == ["sent"] * 1400
    assert len({one["mail_id"] for one in mails}) == 1400


async def every_page(ask: Callable[[str], Awaitable[Page[Any]]]) -> list[Any]:
    """All pages of a list, one after the other."""
    found: list[Any] = []
    after = ""
    while True:
        page = await ask(after)
        found += page
        if not (after := page.next):
            return found
