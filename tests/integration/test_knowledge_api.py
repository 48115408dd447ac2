"""The knowledge base over REST: handing in, reading, removing, deciding; hostile input gets words and loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.documents import ArticleProposed
from services import learn_documents
from services.core.bus.unit import Unit
from services.core.clock import random_id
from services.core.web import make_app
from services.learn_documents.apply import APPLIERS
from services.web.routes import routes
from tests.support.documents import docx_of, pdf_of, zip_bomb
from tests.support.remembering import Memory, day, remembering

TOKEN = "a token for tests"
REFUNDS = "# Refunds\n\nYou get your money back within 14 days."


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    changes: dict[str, Any] = {"web": {"api_token": TOKEN}, "knowledge": {"max_document_mb": 1}}
    async with remembering(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


@asynccontextmanager
async def at_work(memory: Memory, token: str = TOKEN) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API, with learn_documents at work meanwhile."""

    async def work() -> None:
        while True:
            await memory.settle((learn_documents.PROCESSOR,))
            await asyncio.sleep(0.02)

    headers = {"authorization": f"Bearer {token}"} if token else {}
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    working = asyncio.create_task(work())
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
            yield api
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def put(api: httpx.AsyncClient, content: Any, origin: str = "refunds.md", **given: str) -> httpx.Response:
    return await api.put("/api/documents", params={"origin": origin, **given}, content=content)


async def test_a_document_lives_its_life_over_rest(memory: Memory) -> None:
    """Handed in, unchanged, changed, found, shown, removed: each answer says what became of it."""
    link = "https://docs.example/refunds"
    async with at_work(memory) as api:
        first = await put(api, REFUNDS, link=link, by="grace")
        same = await put(api, REFUNDS, link=link)
        memory.clock.forward(day(3))
        changed = await put(api, REFUNDS.replace("14", "30"), link=link)
        found = (await api.get("/api/documents/search", params={"q": "money back"})).json()
        then = (await api.get("/api/documents/search", params={"q": "money", "as_of": day(1).isoformat()})).json()
        id = first.json()["document_id"]
        shown = (await api.get(f"/api/documents/{id}", params={"past": True})).json()
        removed = await api.delete(f"/api/documents/{id}", params={"reason": "old"})
        again = await api.delete(f"/api/documents/{id}")
        listed = [(await api.get("/api/documents", params={"removed": flag})).json() for flag in (False, True)]
    assert [one.json()["status"] for one in (first, same, changed, removed)] == ["done", "unchanged", "done", "done"]
    assert ["14" in found[0]["text"], "14" in then[0]["text"]] == [False, True]
    assert [(one["edition"], one["retired_at"] is None) for one in shown["chunks"]] == [(2, True), (1, False)]
    assert [(one["decision"], one["by"]) for one in shown["log"]] == [("indexed", "grace"), ("indexed", "api")]
    assert shown["document"]["public_url"] == link
    assert (again.status_code, again.json()["error"]) == (409, "refused")
    assert [len(one) for one in listed] == [0, 1]


def hostile() -> Iterator[tuple[str, bytes, int, str]]:
    """Name, content, status, words."""
    bomb = zip_bomb()
    yield "empty.md", b"", 409, "the document is empty"
    yield "bomb.docx", bomb, 409, "unpacks to more than"
    yield "locked.pdf", pdf_of("secret", password="geheim"), 409, "it is encrypted"
    yield "garbage.md", bytes(range(256)) * 20, 409, "is not read"
    yield "half.pdf", b"%PDF-1.7 nothing", 409, "cannot be read"
    yield "huge.txt", b"word " * 300_000, 413, "at most"
    yield "picture.md", b"\x89PNG\r\n\x1a\n" + bytes(100), 409, "holds no text"
    yield "wrong.txt", docx_of(("Normal", "Hello there")), 200, "indexed"
    yield "old.txt", "Preis für Käufer: zehn Öre".encode("utf-16"), 200, "indexed"


async def test_hostile_documents_are_refused_in_words_and_nothing_is_lost(memory: Memory) -> None:
    """No bomb, garbage or lock stops the next document; what stood before still stands."""
    async with at_work(memory) as api:
        await put(api, REFUNDS)
        for name, content, status, words in hostile():
            answer = await put(api, content, name)
            assert (name, answer.status_code) == (name, status), answer.text
            assert words in answer.text
        hidden = b'<html><body><p>Seen</p><p style="display:none">Obey</p><script>x()</script></body></html>'
        page = (await put(api, hidden, "page.html")).json()
        shown = (await api.get(f"/api/documents/{page['document_id']}")).json()
        unread = (await api.get("/api/documents/unread")).json()
        kept = (await api.get("/api/documents/search", params={"q": "money back"})).json()
    assert [one["text"] for one in shown["chunks"]] == ["Seen"]
    assert {one["origin"] for one in unread} == {name for name, _, status, _ in hostile() if status == 409}
    assert "14 days" in kept[0]["text"]


async def test_bad_requests_are_refused_before_anything_is_asked(memory: Memory) -> None:
    """No token, no origin, control characters, links that are none, private pages, unknown ids."""
    async with at_work(memory) as api, at_work(memory, "") as nobody:
        answers = [
            await nobody.get("/api/documents"),
            await api.put("/api/documents", content=b"x"),
            await put(api, REFUNDS, "a\x00b"),
            await put(api, REFUNDS, link="javascript:alert(1)"),
            await api.get("/api/documents/search", params={"q": "a\x00b"}),
            await api.post("/api/documents/fetch", json={"address": "http://127.0.0.1:1/"}),
            await api.post("/api/documents/fetch", json={"address": "file:///etc/passwd"}),
            await api.get(f"/api/documents/{random_id()}"),
            await api.post("/api/articles", json={"thread_id": str(random_id())}),
            await api.post(f"/api/articles/{random_id()}/accept", json={"text_sha256": "x"}),
            await api.delete(f"/api/documents/{random_id()}"),
        ]
    assert [one.status_code for one in answers] == [401, 422, 422, 422, 422, 422, 422, 404, 404, 404, 404]
    assert "which is not public" in answers[5].json()["message"]
    assert await memory.rows("SELECT 1 FROM documents") == []
    assert await memory.rows("SELECT 1 FROM events WHERE topic = 'document-events'") == []


async def test_an_article_is_accepted_by_the_text_that_was_seen(memory: Memory) -> None:
    """The article comes with the hash that a decision names; another hash is refused."""
    id = await proposed(memory)
    async with at_work(memory) as api:
        (one,) = (await api.get("/api/articles")).json()
        wrong = await api.post(f"/api/articles/{id}/accept", json={"text_sha256": "0" * 64})
        right = await api.post(
            f"/api/articles/{id}/accept", json={"text_sha256": one["text_sha256"], "link": "https://docs.example/a"}
        )
        late = await api.post(f"/api/articles/{id}/reject", json={"text_sha256": one["text_sha256"]})
        state = (await api.get(f"/api/articles/{id}")).json()["article"]["state"]
        (document,) = (await api.get("/api/documents")).json()
    assert (wrong.status_code, right.json()["decision"], late.status_code, state) == (409, "indexed", 409, "accepted")
    assert (document["title"], document["public_url"]) == ("Returns", "https://docs.example/a")


async def proposed(memory: Memory) -> UUID:
    """An article that waits for a person."""
    article = ArticleProposed(
        document_id=random_id(), title="Returns", text="# Returns\n\nAny shop takes it.", thread_id=random_id(),
        reply_id=random_id(), source="colleague",
    )  # fmt: skip
    cause = memory.event(article, day(0))
    async with memory.app.database.transaction(memory.workspace) as conn:
        unit = Unit(conn, cause, "learn_documents", "", APPLIERS)
        await unit.record(article)
        await unit.flush()
    return article.document_id


async def test_a_wish_that_waits_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where learn_documents is not running, the document is on the log, and the answer is 202, pending."""
    monkeypatch.setattr("services.web.knowledge.WAIT_S", 0.2)
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        answer = await put(api, REFUNDS)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    await memory.settle((learn_documents.PROCESSOR,))
    assert len(await memory.rows("SELECT 1 FROM documents")) == 1
