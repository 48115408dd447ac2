"""One event that cannot go on, or a database that is away, costs no other event anything, and nothing is given up for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from deploy.local import Endpoints
from schemas.events.threads import TimerElapsed
from services import generate_reply, keep_time, load_memory
from services.core.app import App, open_app
from services.core.archive.archive import archive_of
from services.core.bus import event_store
from services.core.bus.attempt import attempt
from services.core.bus.codec import encode
from services.core.bus.delivery import Delivery
from services.core.bus.event_row import EventRow
from services.core.bus.event_store import EventTooLarge
from services.core.bus.outbox_relay import refill, sweep
from services.core.bus.retry import classify
from services.core.bus.runner import Runner
from services.core.bus.undone_events import SQL as UNDONE
from services.core.bus.undone_events import pairs_of, undone_places
from services.core.db import fetch_all
from services.core.errors import DatabaseAway
from services.core.keys import is_sealed
from services.core.settings import Settings
from services.keep_time.keeper import fire_due
from services.operations.erase.person import person
from services.operations.erase.run import erase
from services.operations.erase.survey import survey
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.pipeline import consumers
from services.receive_email.accept import accept
from tests.support.app import running_app, settings_for
from tests.support.bus import until_true
from tests.support.letters import letter
from tests.support.proxy import FaultProxy
from tests.support.remembered_people import ADA, CARL, write

OLD = "UPDATE events SET published_at = NULL, stored_at = stored_at - interval '1 minute'"


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> Settings:
    return settings_for(stack, database, topic_prefix, tmp_path)


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


async def unpublished(app: App) -> list[UUID]:
    return [row["id"] for row in await rows(app, "SELECT event_id AS id FROM outbox")]


@asynccontextmanager
async def visited(settings: Settings) -> AsyncIterator[App]:
    """A deployment at rest to which Ada and Carl have written."""
    async with running_app(settings) as app:
        await write(app, ADA, "What does the Team plan cost?", "<a1@x.example>")
        await write(app, CARL, "What does the Team plan cost?", "<c1@x.example>")
        yield app


async def test_a_mail_made_to_be_too_large_for_the_log_comes_to_an_end(settings: Settings) -> None:
    """A thousand people with names of emoji and 31,000 characters of emoji: read, judged, and on the log."""
    async with running_app(settings) as app:
        await accept(app, app.settings.inboxes[0], _swollen(), source="file", source_key="1")
        await until_idle(app, timeout_s=120)
        (read,) = await rows(app, "SELECT data FROM events WHERE type = 'email.read.v1'")
        assert len(read["data"]["to"]) == 200
        assert await unpublished(app) == []
        assert await rows(app, "SELECT state FROM deliveries") == [{"state": "sent"}]


async def test_an_event_that_no_log_takes_is_not_stored(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction that would store it fails with its size in words, so that nothing waits unpublished for ever."""
    await prepare(settings)
    monkeypatch.setattr(event_store, "LARGEST_EVENT", 300)
    async with open_app(settings) as app:
        with pytest.raises(EventTooLarge, match=r"mail.received.v1 has \d+ bytes; the log takes 300"):
            await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
        assert await rows(app, "SELECT id FROM events") == []


async def test_a_stored_event_that_the_log_refuses_holds_no_other_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sweep and refill publish all the others, and say which one stays behind."""
    async with visited(settings) as app:
        (row,) = await rows(app, "SELECT * FROM events WHERE type = 'mail.received.v1' ORDER BY seq LIMIT 1")
        known = EventRow.of(**row).envelope()
        large = known.data.model_copy(update={"source_key": "x" * 1_200_000, "mail_id": uuid4()})
    async with open_app(settings) as app:
        monkeypatch.setattr(event_store, "LARGEST_EVENT", 10_000_000)
        async with app.database.transaction() as conn:
            await event_store.store(conn, [replace(known, id=uuid4(), data=large, sealed=None)])
            await conn.execute(OLD)
        assert await sweep(app) > 20
        assert len(await unpublished(app)) == 1
        assert await refill(app, consumers()) >= 1


async def test_an_erased_event_that_was_not_published_holds_no_other_back(settings: Settings) -> None:
    """What a crash left unpublished or undone of somebody who was erased since is passed over, by every consumer."""
    async with visited(settings) as app:
        people, names = await person(app, ADA)
        async with app.database.reading() as conn:
            found = await survey(conn, app.settings.workspace, people, names, archive_of(app.settings))
        await erase(app, found, by="the test")
        await until_idle(app, timeout_s=120)
    async with open_app(settings) as app:
        async with app.database.reading() as conn:
            await conn.execute(OLD)
            await conn.execute("DELETE FROM journal")
        everything = len(await unpublished(app))
        assert await sweep(app) == everything
        assert await unpublished(app) == []
        assert await refill(app, consumers()) > 0
        async with app.database.reading() as conn:
            places = await undone_places(conn, pairs_of(consumers()))
        left = await rows(app, UNDONE.at_places, places=places)
        assert len(left) > 0
        assert [row["type"] for row in left if is_sealed(row["data"])] == []


async def test_a_database_that_is_away_makes_no_dead_letters(settings: Settings) -> None:
    """Giving up needs the event's key; while it cannot be asked for, giving up fails, too, and is tried again."""
    place = urlsplit(settings.database_url)
    async with visited(settings) as app:
        (row,) = await rows(app, "SELECT * FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq LIMIT 1")
        record = encode(EventRow.of(**row).envelope(), topic_prefix=settings.kafka.topic_prefix)
    delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
    async with FaultProxy(place.hostname or "", place.port or 0) as proxy:
        netloc = place.netloc.replace(f"{place.hostname}:{place.port}", proxy.address)
        through = place._replace(netloc=netloc).geturl()
        async with open_app(settings.model_copy(update={"database_url": through})) as app:
            told: list[Any] = []
            app.publisher.publish = told.append  # type: ignore[method-assign, assignment]
            runner = Runner(generate_reply.PROCESSOR, app)
            proxy.refuse()
            with pytest.raises((psycopg.OperationalError, OSError)):
                async with asyncio.timeout(60):
                    await runner.give_up(delivery, psycopg.OperationalError("away"), 9)
            proxy.resume()
    assert told == []


@pytest.mark.slow
async def test_a_minute_without_postgres_failed_the_turns_that_were_under_way(settings: Settings) -> None:
    """While Postgres is away an event is late: no retry is used up, and it is done as soon as Postgres is there."""
    place = urlsplit(settings.database_url)
    async with visited(settings) as app:
        (row,) = await rows(app, "SELECT * FROM events WHERE type = 'turn.opened.v1' ORDER BY seq LIMIT 1")
        event = replace(EventRow.of(**row).envelope(), id=uuid4())
    async with FaultProxy(place.hostname or "", place.port or 0) as proxy:
        netloc = place.netloc.replace(f"{place.hostname}:{place.port}", proxy.address)
        through = place._replace(netloc=netloc).geturl()
        async with open_app(settings.model_copy(update={"database_url": through})) as app:
            runner = Runner(load_memory.PROCESSOR, app)
            record = encode(event, topic_prefix=settings.kafka.topic_prefix)
            delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
            proxy.refuse()
            with pytest.raises(DatabaseAway) as caught:
                await runner.handle(delivery)
            assert classify(caught.value) == "away"
            before = caught.value.answered
            proxy.resume()
            proxy.pause()  # a server, or a network, that hangs
            assert isinstance(await attempt(runner.handle, (delivery,), 3), DatabaseAway)
            proxy.resume()
            await runner.handle(delivery)
            assert app.database.answered > before
    async with open_app(settings) as app:
        done = "SELECT consumer FROM journal WHERE event_id = %(id)s"
        assert await rows(app, done, id=event.id) == [{"consumer": "load_memory"}]


async def test_a_timer_that_cannot_be_read_stops_no_other(settings: Settings) -> None:
    """It stays for a newer version, due as before; the timers beside it fire, and what a crash left is swept."""
    await prepare(settings)
    async with open_app(settings) as app:
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
        known = '{"timer_id": "%s", "thread_id": "%s", "purpose": "quiet", "due_at": "2026-01-01T00:00:00Z"}'
        async with app.database.reading() as conn:
            await conn.execute(OLD)
            for data in ('{"nonsense": 1}', known):
                timer = uuid4()
                await conn.execute(
                    "INSERT INTO timers (id, workspace, due_at, correlation_id, causation_id, event) VALUES"
                    " (%(id)s, %(workspace)s, %(at)s, %(id)s, %(id)s, %(event)s)",
                    {"id": timer, "workspace": settings.workspace, "at": app.now(),
                     "event": data.replace("%s", str(timer))},
                )  # fmt: skip
        stop = asyncio.Event()
        keeping = asyncio.create_task(keep_time.EDGE.run(app, stop))
        await until_true(lambda: _is_empty(app))
        stop.set()
        await keeping
        assert [row["event"] for row in await rows(app, "SELECT event FROM timers")] == [{"nonsense": 1}]
        assert await fire_due(app) == 0
        [left] = await rows(app, "SELECT due_at <= look_at - interval '1 minute' AS kept, look_at FROM timers")
        assert left["kept"]


async def test_a_timer_that_is_set_again_to_the_moment_at_which_it_came_comes_again(settings: Settings) -> None:
    """A clock that was put back has another mail's quiet period end when the last one did: nothing else answers it."""
    await prepare(settings)
    async with open_app(settings) as app:
        moment, timer = app.now(), uuid4()
        first, second = uuid4(), uuid4()
        for cause in (first, second, second):  # the last is the second one again, after a crash
            due = TimerElapsed(timer_id=timer, thread_id=timer, purpose="quiet", due_at=moment)
            ids = {"id": timer, "correlation_id": cause, "causation_id": cause}
            about = {"workspace": settings.workspace, "due_at": moment, "event": Jsonb(due.model_dump(mode="json"))}
            async with app.database.transaction() as conn:
                await conn.execute(event_store.SQL.set_timer, ids | about)
            await fire_due(app)
        came = await rows(app, "SELECT causation_id FROM events WHERE type = 'timer.elapsed.v1' ORDER BY seq")
        assert [row["causation_id"] for row in came] == [first, second]


async def _is_empty(app: App) -> bool:
    return not await unpublished(app) and len(await rows(app, "SELECT id FROM timers")) == 1


def _swollen() -> bytes:
    name = "\N{GRINNING FACE}".encode() * 55
    people = [b'"%s" <u%d@e.example>' % (name, number) for number in range(1020)]
    return b"\r\n".join(
        (
            b"From: A <a@x.example>",
            b"Message-ID: <1@x.example>",
            b"Date: Mon, 2 Mar 2026 09:00:00 +0000",
            b"Subject: What does the Team plan cost?",
            b"To: support@ourcompany.example,\r\n " + b",\r\n ".join(people[:500]),
            b"Cc: " + b",\r\n ".join(people[500:]),
            b"MIME-Version: 1.0",
            b"Content-Type: text/plain; charset=utf-8",
            b"Content-Transfer-Encoding: 8bit",
            b"",
            "\N{GRINNING FACE}".encode() * 31_000,
        )
    )
