"""What is undone is found without reading what is done: low-water marks of consumers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from deploy.local import Endpoints
from services.core.bus.sweeper import refill
from services.core.bus.undone import BATCH, Pairs, advance, low_mark, pairs_of, undone_places
from services.core.db import fetch_all
from services.core.house import House
from services.receive_email.accept import accept
from tests.support.brokerless import opened_brokerless
from tests.support.house import settings_for
from tests.support.letters import letter

RAW = pairs_of([("inbound-email.raw", "read_email")])
TURNS = pairs_of([("turns", "track_threads")])
DONE = """INSERT INTO journal (consumer, event_id, event_day)
SELECT 'read_email', id, (time AT TIME ZONE 'UTC')::date FROM events WHERE seq = ANY(%(places)s)"""
COPIES = """INSERT INTO events (id, workspace, topic, key, type, source, time, correlation_id, data)
SELECT gen_random_uuid(), workspace, topic, key, type, source, time, correlation_id, data
FROM events, generate_series(1, %(times)s)"""
EVERY_DONE = """INSERT INTO journal (consumer, event_id, event_day)
SELECT 'read_email', id, (time AT TIME ZONE 'UTC')::date FROM events ON CONFLICT DO NOTHING"""


@pytest.fixture
async def house(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[House]:
    """A house in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with opened_brokerless(settings) as one:
        yield one


async def receive(house: House, count: int = 1) -> None:
    for _ in range(count):
        await accept(house, house.settings.inboxes[0], letter("Hello"), source="file", source_key=str(uuid4()))


async def execute(house: House, query: str, **args: Any) -> None:
    async with house.database.reading() as conn:
        await conn.execute(query, args)


async def rows(house: House, query: str) -> list[dict[str, Any]]:
    async with house.database.reading() as conn:
        return await fetch_all(conn, query)


async def places(house: House, pairs: Pairs = RAW) -> list[int]:
    async with house.database.reading() as conn:
        return await undone_places(conn, pairs)


async def mark(house: House) -> int:
    async with house.database.reading() as conn:
        return await low_mark(conn, RAW)


async def test_one_event_that_is_never_done_kept_every_later_one_under_watch(house: House) -> None:
    """A mark passes what is undone and lists it: it is still found, and published again, but nothing else is read."""
    await receive(house, 3)
    first, second, third = await places(house)
    await execute(house, DONE, places=[first, third])
    await advance(house, RAW, margin_s=0)
    assert (await mark(house), await places(house)) == (third, [second])
    assert await refill(house, [("inbound-email.raw", "read_email")]) == 1
    await execute(house, DONE, places=[second])
    assert await places(house) == []
    await advance(house, RAW, margin_s=0)
    assert await rows(house, "SELECT * FROM undone_events") == []


async def test_a_mark_passed_an_event_that_was_stored_before_it_and_committed_after_it(house: House) -> None:
    """Places in the log are given before the commit: a mark stops before every transaction that still runs."""
    await receive(house)
    [first] = await places(house)
    async with await AsyncConnection.connect(house.settings.database_url) as slow:
        await slow.execute(COPIES, {"times": 1})
        await receive(house)
        await advance(house, RAW, margin_s=0)
        assert await mark(house) == first
    await advance(house, RAW, margin_s=0)
    assert len(await places(house)) == 3
    assert await mark(house) == max(await places(house))


async def test_what_no_handler_takes_waited_for_a_journal_row(house: House) -> None:
    """Nobody has to do an event that no handler takes: it is not undone, no mark lists it, and it is not published again."""
    await receive(house, 4)
    skipped, held, unknown, _ = await places(house)
    for seq, kind in ((skipped, "turn.opened.v7"), (held, "turn.failed.v7"), (unknown, "turn.paused.v1")):
        await execute(
            house, "UPDATE events SET topic = 'turns', type = %(kind)s WHERE seq = %(seq)s", seq=seq, kind=kind
        )
    left = await places(house, TURNS)
    assert left == [held, unknown], "a newer version of what it handles is held, and nobody knows who handles the other"
    await advance(house, TURNS, margin_s=0)
    assert await places(house, TURNS) == left
    assert await refill(house, [("turns", "track_threads")]) == 2


async def test_the_release_before_listed_what_no_handler_takes(house: House) -> None:
    """What an older process lists as undone, since it would journal that it skips it, counts as nothing here."""
    await receive(house)
    [place] = await places(house)
    await execute(house, "UPDATE events SET topic = 'turns', type = 'turn.opened.v1'")
    await execute(house, "INSERT INTO consumed_marks VALUES ('turns', 'track_threads', %(seq)s)", seq=place)
    await execute(house, "INSERT INTO undone_events SELECT 'track_threads', id, topic, seq FROM events")
    assert await places(house, TURNS) == []


async def test_a_consumer_that_is_new_is_told_everything(house: House) -> None:
    """It has no mark: whatever others have done, its whole topic is undone."""
    await receive(house, 2)
    await execute(house, EVERY_DONE)
    await advance(house, RAW, margin_s=0)
    newer = pairs_of([("inbound-email.raw", "read_email"), ("inbound-email.raw", "newcomer")])
    assert len(await places(house, newer)) == 2
    await advance(house, newer, margin_s=0)
    assert {row["consumer"] for row in await rows(house, "SELECT consumer FROM undone_events")} == {"newcomer"}


async def test_a_journal_that_was_taken_back_left_its_marks(house: House) -> None:
    """Where rows of the journal go, whoever removes them, the marks go with them."""
    await receive(house)
    await execute(house, EVERY_DONE)
    await advance(house, RAW, margin_s=0)
    assert await places(house) == []
    await execute(house, "DELETE FROM journal")
    assert len(await places(house)) == 1


async def test_a_discarded_letter_that_is_redriven_is_found_behind_the_mark(house: House) -> None:
    """Discarded, the event counts as done; once the decision is another it is undone again."""
    await receive(house)
    await execute(
        house,
        """INSERT INTO letter_decisions (letter_id, state, reason, decided_at, consumer, event_id)
           SELECT id, 'discarded', 'not ours', stored_at, 'read_email', id FROM events""",
    )
    await advance(house, RAW, margin_s=0)
    assert await places(house) == []
    await execute(house, "UPDATE letter_decisions SET state = 'redriven'")
    assert len(await places(house)) == 1


async def test_marks_go_on_over_more_events_than_one_statement_looks_at(house: House) -> None:
    """A first walk through a long history ends at its end, in steps; then nothing is written where nothing is new."""
    await receive(house)
    await execute(house, COPIES, times=BATCH + 10)
    await execute(house, EVERY_DONE)
    await advance(house, RAW, margin_s=0)
    [last] = await rows(house, "SELECT max(seq) AS seq FROM events")
    assert await mark(house) == last["seq"]
    before = await rows(house, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next")
    await advance(house, RAW, margin_s=0)
    assert await rows(house, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next") == before
