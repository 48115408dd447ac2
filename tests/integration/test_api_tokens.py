"""Tokens of the API: named, for some things only, asked for before a byte is read, and what is recorded as `by`."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.core.guarded_route import API_BODY_BYTES
from services.core.request_limits import LINGER, LINGER_TOO_LARGE
from services.core.settings import WebSettings
from services.core.web import make_app
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.tending import Tended, tending

API, DESK, READER, HASHED = "token-of-everything", "token-of-the-desk-1", "token-of-a-reader-1", "token-only-as-a-hash"
CHUNK = 128 * 1024
TOKENS: list[dict[str, Any]] = [
    {"name": "desk", "token": DESK, "scopes": ["threads:read", "threads:write"]},
    {"name": "reader", "token": "${READER_TOKEN}", "scopes": ["memory:read"], "requests_per_minute": 5},
    {"name": "hashed", "sha256": hashlib.sha256(HASHED.encode()).hexdigest(), "scopes": ["all"], "names_people": True},
]


async def answered(one: Tended) -> None:
    """A mail that was answered."""
    await one.write("The CSV export stops after 500 rows.")


@pytest.fixture
async def app(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Tended]:
    """A deployment with one thread and four tokens."""
    monkeypatch.setenv("READER_TOKEN", READER)
    web = {"api_token": API, "tokens": TOKENS}
    async with (
        after(answered, tending, stack, template_database, topic_prefix, tmp_path, web=web) as one,
        one.at_work(),
    ):
        yield one


def client(app: Tended, token: str = "", **web_app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)], **web_app), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


@pytest.mark.parametrize(("token", "status"), [("", 401), ("wrong", 401), (READER, 403), (DESK, 413), (API, 413)])
async def test_a_token_is_asked_for_before_the_body(app: Tended, token: str, status: int) -> None:
    """Without a token that is for it a body is thrown away, and little of it taken; with one not much over the limit."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"[" * CHUNK

    async with client(app, token) as api:
        answer = await api.post("/api/threads/00000000-0000-0000-0000-000000000000/notes", content=endless())
    assert answer.status_code == status
    most = LINGER.most_bytes if status < 413 else API_BODY_BYTES + LINGER_TOO_LARGE.most_bytes
    assert 0 < sent <= most // CHUNK + 3


async def test_what_a_token_may_is_what_its_scopes_say(app: Tended) -> None:
    """An area and read or write are asked for by route; `all` is everything, and refusals name what is missing."""
    said: dict[tuple[str, str], int] = {}
    for token in (DESK, READER, HASHED, API):
        async with client(app, token) as api:
            for path in ("/api/threads", "/api/participants", "/api/drafts", "/api/documents"):
                said[token, path] = (await api.get(path)).status_code
    assert [said[DESK, path] for path in ("/api/threads", "/api/participants", "/api/drafts")] == [200, 403, 403]
    assert [said[READER, path] for path in ("/api/threads", "/api/participants")] == [403, 200]
    assert {status for (token, _), status in said.items() if token in (HASHED, API)} == {200}
    async with client(app, READER) as api:
        answer = await api.delete("/api/participants/x/facts/00000000-0000-0000-0000-000000000000")
    assert (answer.status_code, answer.json()["error"]) == (403, "scope_missing")


@pytest.mark.parametrize(
    ("token", "by", "recorded"),
    [
        (DESK, "grace", "desk"),
        (DESK, None, "desk"),
        (API, "grace", "grace"),
        (API, None, "api"),
        (HASHED, "ann", "ann"),
    ],
)
async def test_by_is_the_tokens_name(app: Tended, token: str, by: str | None, recorded: str) -> None:
    """Who asked is taken from the token; a request's own word counts only where the token speaks for people."""
    async with client(app, token) as api:
        (line,) = (await api.get("/api/threads")).json()
        body = {"text": "She called."} | ({"by": by} if by else {})
        assert (await api.post(f"/api/threads/{line['thread_id']}/notes", json=body)).status_code == 201
    async with client(app, API) as api:
        whole = (await api.get(f"/api/threads/{line['thread_id']}")).json()
    assert [note["by"] for note in whole["notes"] if note["text"] == "She called."] == [recorded]


async def test_every_route_has_a_pace(app: Tended) -> None:
    """Too many requests of a token, or of an address on any route, are refused with 429 and told when to come again."""
    async with client(app, READER) as api:
        said = [(await api.get("/api/participants")).status_code for _ in range(7)]
    assert said == [200] * 5 + [429] * 2
    async with client(app, per_minute=3) as api:
        answers = [await api.get(path) for path in ("/healthz", "/api/threads", "/nowhere", "/healthz")]
    assert [one.status_code for one in answers] == [200, 401, 404, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


async def test_no_route_of_the_api_reads_without_a_check(app: Tended) -> None:
    """Each route under /api is refused without a token, with whatever method it has."""
    web_app = make_app([routes(app.app)])
    asked = 0
    async with client(app) as api:
        for path, methods in web_app.openapi()["paths"].items():
            for method in methods if path.startswith("/api") else ():
                filled = path.replace("{", "").replace("}", "")
                answer = await api.request(method, filled, content=b"x" * 100)
                assert answer.status_code == 401, (method, path)
                asked += 1
    assert asked > 40


async def test_a_deployment_without_tokens_has_no_api(app: Tended) -> None:
    """No token in the settings opens nothing."""
    off = replace(app, app=replace(app.app, settings=app.app.settings.model_copy(update={"web": WebSettings()})))
    async with client(off, "x") as api:
        assert (await api.get("/api/threads")).json()["error"] == "api_off"
