"""What was said is found: in other threads, by meaning, by whoever may see it, and by nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.cli.memory import view
from services.core.web import make_app
from services.operations.erase.run import erase
from services.operations.memory.search import find_everywhere, find_said
from services.operations.rebuild import run as rebuild
from services.operations.vectors import keep
from services.web.routes import routes
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

BOB = "bob@acme.example"
TOKEN = "a token for tests"
BOXES: list[dict[str, Any]] = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]
THREADS = (
    ("Smudges", "Every label smudged. In the end the wax-resin ribbon WR-220 helped, the prints are clean now."),
    ("Invoice", "Please send the invoice of March again to our accounting."),
    ("Seats", "We would like twelve seats instead of ten."),
    ("Export", "The export to Xero stops after a minute."),
    ("Holiday", "Are you open between the years?"),
    ("Login", "Our new colleague cannot log in with her phone."),
    ("Address", "We have moved: the new street is Lindengasse 4 in Graz."),
)
QUESTION = "The labels smudge again. Which one was it that fixed our prints back then?"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment of which the first inbox alone vouches for its senders."""
    async with tending(stack, database, topic_prefix, tmp_path, inboxes=BOXES, web={"api_token": TOKEN}) as one:
        yield one


async def lived(app: Tended) -> None:
    """Seven threads of Ada's, days apart, and the vectors that the process that keeps time gives."""
    for subject, text in THREADS:
        await app.write(text, subject=subject)
        await app.wait(days=3)
    await keep.look(app.app, lambda done, of: None)


async def earlier(app: Tended) -> str:
    """The layer of the newest prompt."""
    query = "SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1"
    (row,) = await app.rows(query)
    return next(str(one["text"]) for one in row["data"]["layers"] if one["name"] == "earlier")


async def texts(app: Tended, question: str, who: str | None = ADA) -> str:
    """What is found, as lines of a terminal."""
    person = app.person(who) if who else None
    return "\n".join(map(view.said, await find_said(app.app, person, question, now=app.clock())))


async def test_the_ribbon_that_helped_in_thread_one_of_seven_was_out_of_reach_in_thread_eight(app: Tended) -> None:
    """A new mail has in its prompt what was said in the thread that bears on it, with day and speaker, however old."""
    await lived(app)
    await app.write(QUESTION, subject="Labels")
    layer = await earlier(app)
    assert "WR-220 helped" in layer
    assert "2026-01-05 ada@acme.example: “Every label smudged." in layer
    assert "«Address»" in layer


async def test_what_was_said_is_found_by_word_and_by_meaning_with_who_said_it_and_when(app: Tended) -> None:
    """Before a vector is made a passage is found by its words, then by its meaning; a search of the workspace finds it too."""
    await app.write(THREADS[0][1], subject="Smudges")
    assert "wax-resin ribbon" in await texts(app, "ribbon")
    await lived(app)
    found = await texts(app, "What stopped the ink from blurring?")
    assert "in «Smudges»" in found.splitlines()[0]
    assert "2026-01-05 ada@acme.example in «Smudges»" in found
    assert "WR-220" in await texts(app, "What stopped the ink from blurring?", who=None)
    assert await find_everywhere(app.app, "ribbon", now=app.clock()) == []


async def test_the_api_finds_what_was_said(app: Tended) -> None:
    """Of a person and of everybody, behind the token."""
    await lived(app)
    served = make_app(app.app.settings, [routes(app.app)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://test") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        for path in (f"/api/participants/{ADA}/said/search", "/api/said/search"):
            (best, *_) = (await client.get(path, params={"q": "which ribbon helped"})).json()
            assert "WR-220" in best["text"]
            assert best["subject"] == "Smudges"
        assert (await client.get("/api/facts/search", params={"q": "plan"})).json() == []


async def test_what_an_unproven_sender_wrote_is_found_by_nobody_but_operators(app: Tended) -> None:
    """It claims to be from Ada: her searches and her prompts never have it."""
    await app.write("The export of report 4471 fails.")
    await app.write("We want walrusopal exports.", subject="Re: Export", after="<m1@acme.example>", inbox=1)
    assert "walrusopal" not in await texts(app, "walrusopal export")
    assert "walrusopal" in await texts(app, "walrusopal export", who=None)


async def test_a_text_that_is_kept_no_longer_is_found_no_longer(app: Tended) -> None:
    """When bodies go by age, their passages go in the same transaction."""
    await app.write(THREADS[0][1], subject="Smudges")
    assert await app.rows("SELECT 1 FROM conversation_passages WHERE text LIKE '%%ribbon%%'")
    (row,) = await app.rows("SELECT thread_id FROM threads")
    await expire(app, row["thread_id"])
    assert await app.rows("SELECT 1 FROM conversation WHERE gone_at IS NOT NULL")
    assert not await app.rows("SELECT 1 FROM conversation_passages")


async def expire(app: Tended, thread_id: Any) -> None:
    from schemas.events.retention import BodiesExpired
    from services.track_threads.apply import APPLIERS

    (row,) = await app.rows("SELECT participant_id, inbox FROM threads WHERE thread_id = %(id)s", id=thread_id)
    event = BodiesExpired(thread_id=thread_id, before=app.clock() + __import__("datetime").timedelta(days=1))
    async with app.app.database.transaction(app.workspace) as conn:
        await APPLIERS[BodiesExpired](conn, app.event(event, app.clock()))
