"""What is undone is found without reading what is done: low-water marks of consumers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from deploy.local import Endpoints
from services.core.app import App
from services.core.bus.outbox_relay import refill
from services.core.bus.undone_events import BATCH, Pairs, advance, low_mark, pairs_of, undone_places
from services.core.db import fetch_all
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
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
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with opened_brokerless(settings) as one:
        yield one


async def receive(app: App, count: int = 1) -> None:
    for _ in range(count):
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key=str(uuid4()))


async def execute(app: App, query: str, **args: Any) -> None:
    async with app.database.reading() as conn:
        await conn.execute(query, args)


async def rows(app: App, query: str) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query)


async def places(app: App, pairs: Pairs = RAW) -> list[int]:
    async with app.database.reading() as conn:
        return await undone_places(conn, pairs)


async def mark(app: App) -> int:
    async with app.database.reading() as conn:
        return await low_mark(conn, RAW)


async def test_one_event_that_is_never_done_kept_every_later_one_under_watch(app: App) -> None:
    """A mark passes what is undone and lists it: it is still found, and published again, but nothing else is read."""
    await receive(app, 3)
    first, second, third = await places(app)
    await execute(app, DONE, places=[first, third])
    await advance(app, RAW, margin_s=0)
    assert (await mark(app), await places(app)) == (third, [second])
    assert await refill(app, [("inbound-email.raw", "read_email")]) == 1
    await execute(app, DONE, places=[second])
    assert await places(app) == []
    await advance(app, RAW, margin_s=0)
    assert await rows(app, "SELECT * FROM undone_events") == []


async def test_a_mark_passed_an_event_that_was_stored_before_it_and_committed_after_it(app: App) -> None:
    """Places in the log are given before the commit: a mark stops before every transaction that still runs."""
    await receive(app)
    [first] = await places(app)
    async with await AsyncConnection.connect(app.settings.database_url) as slow:
        await slow.execute(COPIES, {"times": 1})
        await receive(app)
        await advance(app, RAW, margin_s=0)
        assert await mark(app) == first
    await advance(app, RAW, margin_s=0)
    assert len(await places(app)) == 3
    assert await mark(app) == max(await places(app))


async def test_what_no_handler_takes_waited_for_a_journal_row(app: App) -> None:
    """Nobody has to do an event that no handler takes: it is not undone, no mark lists it, and it is not published again."""
    await receive(app, 4)
    skipped, held, unknown, _ = await places(app)
    for seq, kind in ((skipped, "turn.opened.v7"), (held, "turn.failed.v7"), (unknown, "turn.paused.v1")):
        await execute(app, "UPDATE events SET topic = 'turns', type = %(kind)s WHERE seq = %(seq)s", seq=seq, kind=kind)
    left = await places(app, TURNS)
    assert left == [held, unknown], "a newer version of what it handles is held, and nobody knows who handles the other"
    await advance(app, TURNS, margin_s=0)
    assert await places(app, TURNS) == left
    assert await refill(app, [("turns", "track_threads")]) == 2


async def test_the_release_before_listed_what_no_handler_takes(app: App) -> None:
    """What an older process lists as undone, since it would journal that it skips it, counts as nothing here."""
    await receive(app)
    [place] = await places(app)
    await execute(app, "UPDATE events SET topic = 'turns', type = 'turn.opened.v1'")
    await execute(app, "INSERT INTO consumed_marks VALUES ('turns', 'track_threads', %(seq)s)", seq=place)
    await execute(app, "INSERT INTO undone_events SELECT 'track_threads', id, topic, seq FROM events")
    assert await places(app, TURNS) == []


async def test_a_consumer_that_is_new_is_told_everything(app: App) -> None:
    """It has no mark: whatever others have done, its whole topic is undone."""
    await receive(app, 2)
    await execute(app, EVERY_DONE)
    await advance(app, RAW, margin_s=0)
    newer = pairs_of([("inbound-email.raw", "read_email"), ("inbound-email.raw", "newcomer")])
    assert len(await places(app, newer)) == 2
    await advance(app, newer, margin_s=0)
    assert {row["consumer"] for row in await rows(app, "SELECT consumer FROM undone_events")} == {"newcomer"}


async def test_a_journal_that_was_taken_back_left_its_marks(app: App) -> None:
    """Where rows of the journal go, whoever removes them, the marks go with them."""
    await receive(app)
    await execute(app, EVERY_DONE)
    await advance(app, RAW, margin_s=0)
    assert await places(app) == []
    await execute(app, "DELETE FROM journal")
    assert len(await places(app)) == 1


async def test_a_discarded_letter_that_is_redriven_is_found_behind_the_mark(app: App) -> None:
    """Discarded, the event counts as done; once the decision is another it is undone again."""
    await receive(app)
    await execute(
        app,
        """INSERT INTO letter_decisions (letter_id, state, reason, decided_at, consumer, event_id)
           SELECT id, 'discarded', 'not ours', stored_at, 'read_email', id FROM events""",
    )
    await advance(app, RAW, margin_s=0)
    assert await places(app) == []
    await execute(app, "UPDATE letter_decisions SET state = 'redriven'")
    assert len(await places(app)) == 1


async def test_marks_go_on_over_more_events_than_one_statement_looks_at(app: App) -> None:
    """A first walk through a long history ends at its end, in steps; then nothing is written where nothing is new."""
    await receive(app)
    await execute(app, COPIES, times=BATCH + 10)
    await execute(app, EVERY_DONE)
    await advance(app, RAW, margin_s=0)
    [last] = await rows(app, "SELECT max(seq) AS seq FROM events")
    assert await mark(app) == last["seq"]
    before = await rows(app, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next")
    await advance(app, RAW, margin_s=0)
    assert await rows(app, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next") == before
