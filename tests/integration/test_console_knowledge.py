"""Knowledge and settings in the console: what the agent may quote is read, tried, added and removed; no secret is shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.bus import PATIENCE_S
from tests.support.console import form, signed_in, text_of
from tests.support.documents import shelve
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
HOSTILE = "<img src=x onerror=alert(1)>\u202e"
PRICES = f"# Plans and prices\n\nThe Enterprise plan costs $59 per user per month.\n\n## {HOSTILE}\n\n<script>alert(2)</script>\n"


async def cited(one: Tended) -> None:
    """A document, and a draft that cites it."""
    await shelve(one.app, f"prices {HOSTILE}.md", PRICES)
    await one.settle()
    await one.write("What does the Enterprise plan cost a month?", subject="Prices")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with one document, and a draft that cites it."""
    tokens = [{"name": "desk", "token": "only-for-threads-1", "scopes": ["threads:read"]}]
    changes = {"send": {"approval": "review"}, "web": {"api_token": TOKEN, "tokens": tokens}}
    async with after(cited, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one, one.at_work():
        yield one


@pytest.fixture
async def grace(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who is signed in."""
    async with signed_in(app.app) as client:
        yield client


async def upload(client: httpx.AsyncClient, *files: tuple[str, bytes]) -> httpx.Response:
    """What the form sends when a person chose files."""
    token = form(await client.get("/console/knowledge"), "/sign-out").fields["form_token"]
    sent = [("documents", one) for one in files]
    return await client.post("/console/knowledge", data={"form_token": token}, files=sent)


async def found_in(client: httpx.AsyncClient, words: str, wanted: bool) -> str:
    """What the search finds, once a document is there or gone."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            shown = text_of(await client.get("/console/knowledge", params={"q": words}))
            if ("on Tuesdays" in shown) == wanted:
                return shown
            await asyncio.sleep(0.05)


async def test_a_question_is_tried_as_a_customer_would_ask(grace: httpx.AsyncClient) -> None:
    """The passages come with their scores, and lead to their document; nothing of a document runs."""
    page = await grace.get("/console/knowledge", params={"q": "How much is the Enterprise plan?"})
    assert "$59 per user" in text_of(page)
    assert page.text.count("<meter") >= 1
    for shown in (page, await grace.get("/console/knowledge")):
        assert "<img src=x" not in shown.text
        assert "<script>alert" not in shown.text
        assert "\u202e" not in shown.text
    nothing = await grace.get("/console/knowledge", params={"q": " "})
    assert "What the agent would find" not in text_of(nothing)


async def test_a_document_is_added_read_and_removed(app: Tended, grace: httpx.AsyncClient) -> None:
    """A file is found once it was read; its page has its passages; removed it is found no more, and the log says by whom."""
    answer = await upload(grace, ("zebras.md", b"# Zebras\n\nWe sell purple zebras on Tuesdays."))
    assert answer.status_code == 200, text_of(answer)
    await found_in(grace, "purple zebras", wanted=True)
    (row,) = await app.rows("SELECT document_id FROM documents WHERE origin = 'zebras.md'")
    page = await grace.get(f"/console/knowledge/{row['document_id']}")
    assert "purple zebras" in text_of(page)
    await form(page, "/remove").send(grace)
    await found_in(grace, "purple zebras", wanted=False)
    log = await app.rows("SELECT by FROM document_log WHERE document_id = %(id)s", id=row["document_id"])
    assert {one["by"] for one in log} == {"Grace"}


async def test_what_is_no_document_is_refused_in_words(app: Tended, grace: httpx.AsyncClient) -> None:
    """No file chosen, one too large, an address of no document."""
    token = form(await grace.get("/console/knowledge"), "/sign-out").fields["form_token"]
    none = await grace.post("/console/knowledge", data={"form_token": token})
    assert (none.status_code, "Choose a file" in text_of(none)) == (422, True)
    large = await upload(grace, ("big.md", b"x" * (12 * 1024 * 1024)))
    assert large.status_code == 413
    for path in (f"/console/knowledge/{uuid4()}", "/console/knowledge/x"):
        assert (await grace.get(path)).status_code == 404


async def test_a_viewer_reads_and_changes_nothing(app: Tended) -> None:
    """No form, and a forged one is refused."""
    (row,) = await app.rows("SELECT document_id FROM documents")
    async with signed_in(app.app, "Vic", role="viewer") as client:
        page = await client.get(f"/console/knowledge/{row['document_id']}")
        assert "Remove this document" not in text_of(page)
        assert (await client.post(f"/console/knowledge/{row['document_id']}/remove")).status_code == 403
        assert (await client.get("/console/settings")).status_code == 200


async def test_a_draft_that_waits_was_said_to_cite_nothing(app: Tended, grace: httpx.AsyncClient) -> None:
    """What a draft cites is known before it leaves: on its page, on the thread's, and over HTTP."""
    async with asyncio.timeout(PATIENCE_S):
        while "The reply as it will leave" not in (page := await grace.get("/console/drafts/next")).text:
            await asyncio.sleep(0.05)
    async with api(app) as client:
        (draft,) = (await client.get("/api/drafts")).json()
    assert "$59" in draft["text"]
    assert ["$59" in one["quote"] for one in draft["sources"]] == [True]
    for shown in (page, await grace.get(f"/console/threads/{draft['thread_id']}")):
        assert "Rests on 1 passage" in text_of(shown)
        assert "No passage of the knowledge base" not in text_of(shown)


async def test_the_settings_show_no_secret(app: Tended, grace: httpx.AsyncClient) -> None:
    """Page and API say what is effective for each inbox and who said it; the API wants its own scope."""
    page = await grace.get("/console/settings")
    assert "support@ourcompany.example" in text_of(page)
    async with api(app) as client, api(app, "only-for-threads-1") as other:
        shown = await client.get("/api/settings")
        deliveries = await client.get("/api/deliveries?state=draft")
        refused = await other.get("/api/settings")
    assert refused.status_code == 403
    assert len(deliveries.json()) <= 1
    (box,) = shown.json()["inboxes"]
    assert {"name": "approval", "value": "review", "source": "workspace", "about": ""} in box["shaped"]
    for secret in (TOKEN, "only-for-threads-1", "a secret for tests only", "whsec_", app.app.settings.database_url):
        assert secret not in page.text + shown.text


def api(app: Tended, token: str = TOKEN) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def test_events_are_found_by_id_correlation_thread_and_person(app: Tended, grace: httpx.AsyncClient) -> None:
    """On the page and over HTTP, page by page, without what they say; what is no id finds nothing."""
    (mail,) = await app.rows("SELECT id, correlation_id FROM events WHERE type = 'email.read.v1'")
    (thread,) = await app.rows("SELECT thread_id FROM threads")
    async with api(app) as client:
        for typed in (mail["id"], mail["correlation_id"], thread["thread_id"], app.person()):
            found = (await client.get("/api/events", params={"q": str(typed)})).json()
            assert found, typed
            assert "data" not in found[0]
        by_address = (await client.get("/api/events", params={"q": ADA})).json()
        first = await client.get("/api/events", params={"q": str(mail["correlation_id"]), "limit": 2})
        rest = await client.get(first.links["next"]["url"])
        nothing = [await client.get("/api/events", params={"q": one}) for one in ("x", HOSTILE, "@", str(uuid4()))]
    assert {one["key"] for one in by_address} == {str(app.person())}
    assert first.json()[-1]["seq"] > rest.json()[0]["seq"]
    assert [one.json() for one in nothing] == [[], [], [], []]
    page = await grace.get("/console/pipeline/events", params={"q": str(mail["id"])})
    assert "email.read.v1" in text_of(page)
    hostile = await grace.get("/console/pipeline/events", params={"q": HOSTILE})
    assert "No event has this id" in text_of(hostile)
    assert "<img src=x" not in hostile.text
