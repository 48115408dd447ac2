"""The console's pipeline page over a real broker: the flow, dead letters and acts on them, and the stream of changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.documents import DocumentSubmitted
from services.core.app import App, open_app
from services.core.bus.codec import encode
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import first
from services.core.bus.event_row import EventRow
from services.core.clock import random_id
from services.core.db import fetch_one, row_as
from services.core.errors import Permanent
from services.core.web import make_app
from services.operations.preparation import prepare
from services.pipeline import IN_ORDER
from services.receive_email.accept import accept
from services.web.console.live import changes_after
from services.web.routes import routes
from tests.support.app import settings_for
from tests.support.console import form, signed_in, text_of
from tests.support.letters import letter

TOKEN = "a token for tests"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work."""
    settings = settings_for(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN})
    await prepare(settings)
    async with open_app(settings) as one:
        yield one


@pytest.fixture
async def grace(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who is signed in."""
    async with signed_in(app) as client:
        yield client


def submitted(app: App, blob: str) -> Any:
    """The event of a document that somebody handed in."""
    data = DocumentSubmitted(
        document_id=random_id(), title="Plans", origin="plans.md", by="ann", media_type="text/markdown", blob=blob
    )
    return first(data, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace)


async def fail(app: App, blob: str) -> None:
    """learn_documents could not handle a document."""
    prefix = app.settings.kafka.topic_prefix
    record = encode(submitted(app, blob))
    came = Delivery(f"{prefix}document-events", 0, 7, record.key, record.value, record.headers, 0)
    group, error = f"{prefix}learn_documents", Permanent(f"the blob is away {HOSTILE}")
    dead_letter = make_dead_letter(came, group=group, error=error, attempts=3, at=datetime(2026, 1, 5, tzinfo=UTC))
    await app.publisher.publish([dead_letter])


async def test_the_flow_is_drawn_at_once_and_read_when_asked(app: App, grace: httpx.AsyncClient) -> None:
    """The page comes without the broker; asked, it says what waits, and names every processor."""
    quick = await grace.get("/console/pipeline")
    assert 'data-load="/console/pipeline?now=1"' in quick.text
    assert "Read it now" in text_of(quick)
    whole = await grace.get("/console/pipeline?now=1")
    said = text_of(whole)
    assert "dead letters" in said
    assert "No dead letter waits" in said
    for name in IN_ORDER:
        assert name.replace("_", " ") in said
    assert whole.text.count('class="arc') > 20


async def test_what_is_not_done_yet_was_called_calm(app: App, grace: httpx.AsyncClient) -> None:
    """While an event has no taker and is not old, the page names whose it is; a line that waits leads to its page."""
    record = encode(submitted(app, await app.blobs.put(b"# Plans")))
    await app.publisher.publish([replace(record, topic=f"{app.settings.kafka.topic_prefix}{record.topic}")])
    said = text_of(await grace.get("/console/pipeline?now=1"))
    assert "Still to do: learn documents" in said
    assert "Nothing stands still." not in said
    await fail(app, "none")
    page = await grace.get("/console/pipeline?now=1")
    assert 'href="/console/pipeline?now=1#dead-letters">dead letters</a>' in page.text
    assert 'href="/console/drafts">drafts waiting' not in page.text


async def test_a_dead_letter_is_redriven_from_the_screen(app: App, grace: httpx.AsyncClient) -> None:
    """Its own group handles it, and it is listed no more."""
    await fail(app, await app.blobs.put(b"# Plans\n\nThe Team plan costs 12 dollars."))
    page = await grace.get("/console/pipeline?now=1")
    assert "learn_documents could not handle document.submitted.v1" in text_of(page)
    assert "1 dead" in text_of(page)
    assert HOSTILE not in page.text
    assert HOSTILE in text_of(page)
    assert "was handled" in text_of(await form(page, "/redrive").send(grace))
    assert "No dead letter waits" in text_of(await grace.get("/console/pipeline?now=1"))


async def test_a_dead_letter_that_fails_again_stays(app: App, grace: httpx.AsyncClient) -> None:
    """The page says why, and it is still listed."""
    prefix = app.settings.kafka.topic_prefix
    came = Delivery(f"{prefix}turns", 0, 7, b"key", b"{}", (), 0)
    at = datetime(2026, 1, 5, tzinfo=UTC)
    await app.publisher.publish(
        [make_dead_letter(came, group=f"{prefix}reflect", error=Permanent("away"), attempts=1, at=at)]
    )
    page = await grace.get("/console/pipeline?now=1")
    again = await form(page, "/redrive").send(grace)
    assert again.status_code == 409
    assert "stays a dead letter" in text_of(again)
    assert "reflect could not handle" in text_of(await grace.get("/console/pipeline?now=1"))


async def test_what_a_redrive_would_do_is_shown_before_it_is_done(app: App, grace: httpx.AsyncClient) -> None:
    """What its processor would record, and nothing is; the button below does it. A processor that no replay runs says so."""
    raw = letter("The export stops.", message_id="<dead@acme.example>")
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key="dead")
    async with app.database.reading() as conn:
        row = await row_as(conn, EventRow.of, "SELECT * FROM events WHERE type = 'mail.received.v1'", {})
    assert row is not None
    prefix, record = app.settings.kafka.topic_prefix, encode(row.envelope())
    came = Delivery(f"{prefix}inbound-email.raw", 0, 7, record.key, record.value, record.headers, 0)
    group, at = f"{prefix}read_email", datetime(2026, 1, 5, tzinfo=UTC)
    dead = make_dead_letter(came, group=group, error=Permanent("away"), attempts=1, at=at)
    await app.publisher.publish([dead])
    page = await form(await grace.get("/console/pipeline?now=1"), "/replay").send(grace)
    assert "It would record 1 event" in text_of(page)
    assert "email.read.v1" in text_of(page)
    assert "The export stops." in text_of(page)
    assert await mails(app) == 0
    assert "was handled" in text_of(await form(page, "/redrive").send(grace))
    assert await mails(app) == 1
    again = await form(page, "/replay").send(grace)
    assert (again.status_code, "handled already" in text_of(again)) == (409, True)
    await fail(app, "0" * 64)
    refused = await form(await grace.get("/console/pipeline?now=1"), "/replay").send(grace)
    assert (refused.status_code, "learn_documents cannot be replayed" in text_of(refused)) == (409, True)


async def test_dead_letters_are_routes_of_the_api(app: App) -> None:
    """Listed, redriven with the reason of a failure, discarded with one of ours."""
    await fail(app, "0" * 64)
    headers = {"authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(make_app([routes(app)]), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        (one,) = (await api.get("/api/dead-letters")).json()
        status = (await api.get("/api/status")).json()
        again = await api.post(f"/api/dead-letters/{one['id']}/redrive")
        done = await api.post(f"/api/dead-letters/{one['id']}/discard", json={"reason": "a trial", "by": "Ann"})
        rest = (await api.get("/api/dead-letters")).json()
        unknown = await api.post("/api/dead-letters/abc/redrive")
    assert {one["name"]: one["count"] for one in status["waiting"]}["letters"] == 1
    assert isinstance(status["problems"], list)
    assert (one["group"], one["event"], one["state"]) == ("learn_documents", "document.submitted.v1", "waiting")
    assert (again.status_code, again.json()["error"]) == (409, "failed_again")
    assert (done.json()["state"], done.json()["why"]) == ("discarded", "a trial (Ann)")
    assert (rest, unknown.status_code) == ([], 404)


async def mails(app: App) -> int:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, "SELECT count(*) AS n FROM mails", {})
    assert row is not None
    return int(row["n"])


async def test_a_dead_letter_is_discarded_with_a_reason(app: App, grace: httpx.AsyncClient) -> None:
    """Without a reason nothing is done; with one it is kept with who said it."""
    await fail(app, "0" * 64)
    page = await grace.get("/console/pipeline?now=1")
    assert (await form(page, "/discard").send(grace, reason=" ")).status_code == 422
    assert "was discarded" in text_of(await form(page, "/discard").send(grace, reason="a trial"))
    async with app.database.reading() as conn:
        (row,) = await (await conn.execute("SELECT state, reason FROM letter_decisions")).fetchall()
    assert (row["state"], row["reason"]) == ("discarded", "a trial (Grace)")
    unknown = await grace.post("/console/dead-letters/abc/redrive", data=form(page, "/redrive").fields)
    assert unknown.status_code == 404


async def test_the_stream_says_each_change_once(app: App) -> None:
    """Keys and versions alone; what committed late, under a smaller number, is said too; it ends when told to."""
    stop, said = asyncio.Event(), []
    insert = """INSERT INTO events (id, seq, workspace, topic, key, type, source, time, aggregate, aggregate_id, version,
        correlation_id, data) OVERRIDING SYSTEM VALUE VALUES (gen_random_uuid(), %s, %s, 'thread-events', %s,
        'thread.note_added.v1', 'x', now(), 'thread', gen_random_uuid(), 3, gen_random_uuid(), '{"text": "secret"}')"""

    async def store(seq: int, key: str) -> None:
        async with app.database.reading() as conn:
            await conn.execute(insert, [seq, app.settings.workspace, key])

    await store(100, "seen")

    async def admitted() -> bool:
        return True

    async for line in changes_after(app, 100, stop, admitted):
        said.append(line)
        told = [json.loads(one.partition("data: ")[2]) for one in said if 'data: {"' in one]
        if len(said) == 2:
            await store(103, "new")
        elif told and len(told) == 1:
            await store(99, "late")
        elif len(told) == 2:
            stop.set()
    assert told == [{"thread": {"new": 3}}, {"thread": {"late": 3}}]
    assert "id: 103" in said[-1]
    assert "secret" not in "".join(said)
