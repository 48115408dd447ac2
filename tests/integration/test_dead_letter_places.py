"""Dead letters are listed, counted and found by id at the same cost, however many there were."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.app import App, open_app
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.errors import Permanent
from services.operations import dead_letters
from services.operations.dead_letters import Choice, NoSuchDeadLetter
from services.operations.dead_letters import places as letter_places
from services.operations.dead_letters.dead_letter import DeadLetter
from services.operations.preparation import prepare
from tests.support.app import settings_for

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
LETTERS = 300


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as one:
        yield one


async def fail(app: App, numbers: range) -> None:
    """So many events are given up on by a group, a minute apart."""
    prefix = app.settings.kafka.topic_prefix
    for number in numbers:
        came = Delivery(f"{prefix}turns", 0, number, b"key", b"{}", (), 0)
        at = BEGAN + timedelta(minutes=number)
        error = Permanent(f"trouble {number}")
        letter = make_dead_letter(came, group=f"{prefix}reflect", error=error, attempts=1, at=at)
        await app.publisher.publish([letter])


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The offsets that are read from topics of dead letters."""
    seen: list[int] = []
    read = letter_places.read

    async def watched(*args: Any) -> AsyncIterator[Delivery]:
        async for record in read(*args):
            seen.append(record.offset)
            yield record

    monkeypatch.setattr(letter_places, "read", watched)
    return seen


async def listed(app: App, limit: int, *, every: bool = False) -> list[DeadLetter]:
    """All pages, one after the other."""
    found: list[DeadLetter] = []
    after = ""
    while True:
        page = await dead_letters.page_of(app, Choice(), every=every, limit=limit, after=after)
        found += page
        if not (after := page.next):
            return found


async def test_each_list_of_dead_letters_read_all_of_them(app: App, records: list[int]) -> None:
    """Once noted, a page reads the records that it shows; status reads none, and an id one."""
    await fail(app, range(LETTERS))
    assert await dead_letters.waiting(app) == LETTERS
    assert len(records) == LETTERS
    records.clear()
    page = await dead_letters.page_of(app, Choice(), every=False, limit=5, after="")
    assert [one.error for one in page] == [f"Permanent: trouble {n}" for n in range(LETTERS - 1, LETTERS - 6, -1)]
    assert len(records) == 5
    assert await dead_letters.waiting(app) == LETTERS
    [same] = await dead_letters.named(app, [str(page[0].id)[:12]])
    assert same == page[0]
    assert len(records) == 6
    with pytest.raises(NoSuchDeadLetter):
        await dead_letters.named(app, ["zz"])
    await fail(app, range(LETTERS, LETTERS + 1))
    assert await dead_letters.waiting(app) == LETTERS + 1
    assert len(records) == 7, "only what is new is read"


async def test_pages_of_dead_letters_meet_each_once_and_none_that_was_decided(app: App) -> None:
    """From page to page, newest first, every letter that waits is met once; a word on one takes it from the list."""
    await fail(app, range(60))
    first, *rest = await listed(app, 7)
    assert [one.failed_at for one in (first, *rest)] == [BEGAN + timedelta(minutes=n) for n in range(59, -1, -1)]
    for letter in rest[:40]:
        await dead_letters.discard(app, letter, "not ours")
    assert [one.id for one in await listed(app, 7)] == [first.id, *(one.id for one in rest[40:])]
    assert await dead_letters.waiting(app) == 20
    assert len(await listed(app, 50, every=True)) == 60
    page = await dead_letters.page_of(app, Choice(error="trouble 3"), every=False, limit=50, after="")
    assert [one.error for one in page] == ["Permanent: trouble 3"]


async def test_letters_of_a_topic_that_was_lost_were_listed_for_ever(app: App) -> None:
    """A lost topic is read again from its beginning: what it holds now is listed, and nothing twice."""
    await fail(app, range(3))
    assert await dead_letters.waiting(app) == 3
    async with app.database.reading() as conn:
        await conn.execute(
            """INSERT INTO log_topics (name, cluster_id, topic_id, generation)
            SELECT topic, 'c', 't', 1 FROM dead_letter_marks ON CONFLICT (name) DO UPDATE SET generation = 1"""
        )
        await conn.execute("UPDATE dead_letter_places SET id = gen_random_uuid()")
    assert len(await listed(app, 10)) == 3
    assert await dead_letters.waiting(app) == 3
