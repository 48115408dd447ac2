"""Lists over HTTP: every row is on one page, the next page is in `Link`, a hostile cursor is 400."""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

import services.web.threads
from deploy.local import Endpoints
from services.core.app import App
from services.core.web import make_app
from services.web.refusals import NotGranted
from services.web.routes import routes
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.history import fill

TOKEN = "a token for tests"
LISTS = (
    "threads",
    "inbox",
    "deliveries",
    "participants",
    "deadlines",
    "drafts",
    "documents",
    "documents/unread",
    "articles",
    "investigations",
)
OF_A_PERSON = ("facts", "facts/history", "facts/as-of", "refusals")
BOUNDED = {
    "/api/webhooks",  # 50 endpoints at most
    "/api/webhooks/types",
    "/api/teams",  # 50
    "/api/users",  # who may sign in
    "/api/restores",  # 100 that are over are kept
    "/api/participants/{who}/profile",  # our own fields
    "/api/participants/{who}/same-person",  # the addresses of one person
    "/api/documents/search",  # the best so many, as all that search
    "/api/facts/search",
    "/api/said/search",
    "/api/participants/{who}/said/search",
    "/api/participants/{who}/brief/history",  # the latest so many
    "/api/participants/{who}/periods",
    "/api/participants/{who}/periods/search",
    "/api/threads/{thread_id}/canned-answers",  # a list of settings
    "/api/outreach",  # one an inbox and rule, which are lists of settings
    "/api/replies/{reply_id}/thumbs",  # one of each user
    "/api/patterns",  # one an inbox and intent, which are lists of settings
}
HOSTILE = [
    "x",
    "%00",
    "';DROP TABLE threads;--",
    "é",
    "A" * 3999,
    base64.urlsafe_b64encode(b'["threads","infinity"]').decode(),
    base64.urlsafe_b64encode(json.dumps(["threads", "2026-01-01T00:00:00+00:00", "x"]).encode()).decode(),
    base64.urlsafe_b64encode(json.dumps(["other", "2026-01-01T00:00:00+00:00"]).encode()).decode(),
]


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work, with 60 mails."""
    settings = settings_for(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN})
    async with opened_brokerless(settings) as one:
        await fill(one, 0, 60)
        yield one


def app_of(app: App) -> FastAPI:
    return make_app([routes(app)])


def client(app: App) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app_of(app), raise_app_exceptions=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://deployment", headers={"authorization": f"Bearer {TOKEN}"}
    )


async def every_page(api: httpx.AsyncClient, path: str) -> list[Any]:
    found, pages = [], 0
    while path:
        answer = await api.get(path)
        assert answer.status_code == 200, answer.text
        found += answer.json()
        path, pages = answer.links.get("next", {}).get("url", ""), pages + 1
    assert pages > 1
    return found


async def test_a_list_is_followed_to_its_end(app: App) -> None:
    """`Link: rel="next"` keeps what was asked for, and the last page has none."""
    async with client(app) as api:
        threads = await every_page(api, "/api/threads?limit=7")
        resolved = await every_page(api, "/api/threads?limit=3&state=resolved&inbox=support")
        people = await every_page(api, "/api/participants?limit=4")
    assert [one["subject"] for one in threads] == [f"Question {n}" for n in range(30, 0, -1)]
    assert {one["state"] for one in resolved} == {"resolved"}
    assert len(resolved) == 10
    assert [one["name"] for one in people] == [f"Person {n}" for n in range(15, 0, -1)]


@pytest.mark.parametrize("cursor", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_cursor_that_is_none_of_ours_is_a_clear_400(app: App, cursor: str) -> None:
    """On every list: 400 `bad_cursor`, in words, whatever came."""
    facts = [f"participants/person1@example.org/{name}" for name in OF_A_PERSON]
    async with client(app) as api:
        for path in (*LISTS, *facts):
            answer = await api.get(f"/api/{path}", params={"after": cursor, "at": "2026-01-15T09:00:00Z"})
            assert (answer.status_code, answer.json()["error"]) == (400, "bad_cursor"), (path, answer.text)


async def test_no_list_is_unbounded(app: App) -> None:
    """Each route that answers with a list takes `limit` and `after`, but for few that are bounded by what they say."""
    lists = {
        path: {parameter["name"] for parameter in answers["get"].get("parameters", ())}
        for path, answers in app_of(app).openapi()["paths"].items()
        if path not in BOUNDED and "get" in answers and _is_list(answers["get"])
    }
    assert len(lists) >= len(LISTS) + len(OF_A_PERSON)
    assert {path: taken for path, taken in lists.items() if not {"limit", "after"} <= taken} == {}


async def test_a_body_of_the_document_was_built_with_a_warning(app: App) -> None:
    """The OpenAPI document is made in silence: no field of a body has an alias without effect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert app_of(app).openapi()["paths"]


async def test_a_request_that_waits_for_its_processor_was_answered_as_if_nothing_were_stored(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 says that it is on the log and who has not come to it: sent again, a note would stand there twice."""
    monkeypatch.setattr(services.web.threads, "WAIT_S", 0.0)
    async with client(app) as api:
        (thread, *_) = (await api.get("/api/threads?limit=1")).json()
        answer = await api.post(f"/api/threads/{thread['thread_id']}/notes", json={"text": "Hm.", "by": "bo"})
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert "track_threads has not come to it yet" in answer.json()["message"]


async def test_a_refusal_was_not_in_the_document(app: App) -> None:
    """Each status that a route may refuse with is documented, with the shape that refusals have."""
    here = Path(services.web.__file__).parent
    written = "".join(path.read_text(encoding="utf-8") for path in here.glob("*.py"))
    raised = set(re.findall(r"RequestRefused\((\d{3})", written)) | {"400", "408", "413", "422", "503"}
    document = app_of(app).openapi()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert raised <= operation["responses"].keys(), (path, method)
            shapes = {
                one["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                for status, one in operation["responses"].items()
                if status >= "400"
            }
            assert shapes == {"NotGranted"}, (path, method)
    async with client(app) as api:
        for path in ("/api/threads?limit=0", f"/api/threads/{UUID(int=1)}", "/api/threads?after=x"):
            assert NotGranted.model_validate((await api.get(path)).json()).error


def _is_list(operation: dict[str, Any]) -> bool:
    answer = operation["responses"]["200"].get("content", {}).get("application/json", {})
    return bool(answer.get("schema", {}).get("type") == "array")


THREAD = """INSERT INTO threads (thread_id, workspace, inbox, subject, state, opened_at, changed_at)
VALUES (gen_random_uuid(), %(workspace)s, 'support', 'Long', 'in_progress', now(), now())"""
LONG = """INSERT INTO conversation (thread_id, version, workspace, role, text, tokens, trusted, at)
SELECT t.thread_id, 2 * n, t.workspace, 'customer', 'Message ' || n, 5, true, t.opened_at + n * interval '1 minute'
FROM threads t, generate_series(1, 5000) n WHERE t.subject = 'Long'"""
STEPS = """INSERT INTO thread_log (thread_id, version, workspace, at, from_state, to_state, trigger, reason, refused, cause)
SELECT t.thread_id, 2 * n + 1, t.workspace, t.opened_at, 'new', 'in_progress', 'system', 'Step ' || n, '', NULL
FROM threads t, generate_series(1, 5000) n WHERE t.subject = 'Long'"""


async def test_a_thread_of_5000_mails_came_in_one_answer(app: App) -> None:
    """A conversation comes by pages, the newest first, each with the steps that were made next to it; none is left out."""
    async with app.database.reading() as conn:
        for statement in (THREAD, LONG, STEPS):
            await conn.execute(statement, {"workspace": app.settings.workspace})
    async with client(app) as api:
        (one,) = [row for row in (await api.get("/api/threads?limit=500")).json() if row["subject"] == "Long"]
        path = f"/api/threads/{one['thread_id']}"
        newest = await api.get(path)
        pages, before = [], f"{path}?limit=400"
        while before:
            answer = await api.get(before)
            assert answer.status_code == 200, answer.text
            pages.append(answer.json())
            before = answer.links.get("next", {}).get("url", "")
        bad = [(await api.get(path, params={"after": cursor})).status_code for cursor in HOSTILE]
    assert len(newest.json()["conversation"]) == 500
    assert newest.json()["conversation"][-1]["text"] == "Message 5000"
    said = [message["text"] for page in reversed(pages) for message in page["conversation"]]
    made = [step["reason"] for page in reversed(pages) for step in page["log"]]
    assert said == [f"Message {n}" for n in range(1, 5001)]
    assert made == [f"Step {n}" for n in range(1, 5001)]
    assert max(len(page["log"]) for page in pages) <= 401
    assert pages[-1]["earlier"] == ""
    assert set(bad) == {400}
