"""Answering over HTTP and on the command line: what a reply is bound to, what is refused, and that no text is lost."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services.cli import assignment, reply
from services.cli.main import app as command_line
from services.core.app import App, open_app
from services.core.web import make_app
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.bus import PATIENCE_S
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
RULE = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}
Type = Callable[..., Awaitable[Result]]


async def for_a_person(one: Tended) -> None:
    """A mail that a rule gives to a person."""
    await one.write("We want to change it.", subject="Our contract")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment at work, with a thread that a person has."""
    reading = {"name": "desk", "token": "reads only, this one", "scopes": ["threads:read"]}
    said = {"web": {"api_token": TOKEN, "tokens": [reading]}, "behaviours": [RULE]}
    async with after(for_a_person, tending, stack, template_database, topic_prefix, tmp_path, **said) as one:
        yield one


@pytest.fixture
def typed(app: Tended, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Type:
    """A command, in a thread with an event loop of its own, while the deployment works."""

    @asynccontextmanager
    async def here(home: Path) -> AsyncIterator[App]:
        async with open_app(app.app.settings, now=app.clock) as own:
            yield replace(own, publisher=app.app.publisher)

    monkeypatch.setattr(reply, "app_here", here)
    monkeypatch.setattr(assignment, "app_here", here)

    async def run(*arguments: str, stdin: str = "") -> Result:
        words = ["--home", str(tmp_path / "home"), *arguments]
        async with app.at_work():
            return await asyncio.to_thread(CliRunner().invoke, command_line, words, input=stdin)

    return run


def client(app: Tended, token: str = TOKEN) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def thread_of(api: httpx.AsyncClient) -> dict[str, Any]:
    (line,) = (await api.get("/api/threads")).json()
    return dict((await api.get(f"/api/threads/{line['thread_id']}")).json())


async def test_an_escalated_thread_is_answered_over_http(app: Tended) -> None:
    """Bound to the version that was seen, once by its id, with a file; and where it stands can be asked."""
    async with client(app) as api, app.at_work():
        whole = await thread_of(api)
        address = f"/api/threads/{whole['thread']['thread_id']}/replies"
        files = [{"filename": "offer.pdf", "content": base64.b64encode(b"%PDF").decode()}]
        body = {"id": "a1", "text": "Dear Ada.", "thread_version": whole["version"], "files": files, "by": "grace"}
        answer = await api.post(address, json=body)
        again = await api.post(address, json=body)
        assert answer.status_code == again.status_code == 200, answer.text
        assert answer.json()["reply_id"] == again.json()["reply_id"]
        async with asyncio.timeout(PATIENCE_S):
            while (await api.get(f"{address}/{answer.json()['reply_id']}")).json()["state"] != "sent":
                await asyncio.sleep(0.05)
            while (await thread_of(api))["open_turn"]:
                await asyncio.sleep(0.05)
        late = await api.delete(f"{address}/{answer.json()['reply_id']}")
        assert (late.status_code, late.json()["error"]) == (409, "too_late")
        said = (await thread_of(api))["conversation"][-1]
        assert (said["role"], said["by"], said["text"]) == ("human", "grace", "Dear Ada.")
        stale = await api.post(address, json={**body, "id": "a2"})
        assert (stale.status_code, stale.json()["error"]) == (409, "reply_newer")
        assert [one["text"] for one in stale.json()["came"]] == ["Dear Ada."]


async def test_a_held_reply_is_taken_back_over_http_and_the_thread_has_somebody(app: Tended) -> None:
    """The hold is told, the reply goes nowhere, and who has the thread is in the list."""
    async with client(app) as api, app.at_work():
        whole = await thread_of(api)
        thread = f"/api/threads/{whole['thread']['thread_id']}"
        body = {"id": "a1", "text": "Dear Ada.", "thread_version": whole["version"], "hold_s": 10, "by": "grace"}
        held = (await api.post(f"{thread}/replies", json=body)).json()
        assert held["leaves_at"]
        back = await api.delete(f"{thread}/replies/{held['reply_id']}", params={"by": "grace"})
        assert (back.status_code, back.json()["state"]) == (200, "discarded")
        assert (await api.delete(f"{thread}/replies/{held['reply_id']}")).status_code == 200
        put = await api.put(f"{thread}/assignee", json={"assignee": "bo", "by": "ops"})
        assert put.json()["assignee"] == "bo"
        assert (await api.get("/api/threads")).json()[0]["assignee"] == "bo"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"id": "../x"}, 422),
        ({"id": ""}, 422),
        ({"text": ""}, 422),
        ({"text": "x" * 32_001}, 422),
        ({"text": "a\0b"}, 422),
        ({"thread_version": -1}, 422),
        ({"thread_version": 2**40}, 422),
        ({"cc": ["a@x.example\r\nBcc: b@x.example"]}, 422),
        ({"cc": [f"a{number}@x.example" for number in range(21)]}, 422),
        ({"cc": [f"a{number}@x.example" for number in range(9)]}, 422),
        ({"cc": ["support@ourcompany.example"]}, 422),
        ({"hold_s": 1e9}, 422),
        ({"hold_s": "NaN"}, 422),
        ({"then": "explode"}, 422),
        ({"files": [{"filename": "../etc", "content": ""}]}, 422),
        ({"files": [{"filename": "a.txt", "content": "!"}]}, 422),
        ({"by": "a\nb"}, 422),
        ({"unknown": 1}, 422),
    ],
)
async def test_hostile_bodies_are_refused_in_words(app: Tended, wrong: dict[str, Any], status: int) -> None:
    """Nothing reaches the log."""
    async with client(app) as api:
        whole = await thread_of(api)
        body = {"id": "a1", "text": "Hi.", "thread_version": whole["version"], **wrong}
        answer = await api.post(f"/api/threads/{whole['thread']['thread_id']}/replies", json=body)
    assert answer.status_code == status, answer.text
    assert await app.rows("SELECT 1 FROM events WHERE type = 'thread.reply_requested.v1'") == []


async def test_unknown_threads_and_replies_and_tokens_that_only_read(app: Tended) -> None:
    """404 and 403, and nothing is asked."""
    body = {"id": "a1", "text": "Hi.", "thread_version": 1}
    async with client(app) as api:
        assert (await api.post(f"/api/threads/{uuid4()}/replies", json=body)).status_code == 404
        thread_id = (await thread_of(api))["thread"]["thread_id"]
        for method in ("GET", "DELETE"):
            assert (await api.request(method, f"/api/threads/{thread_id}/replies/{uuid4()}")).status_code == 404
        nobody = await api.put(f"/api/threads/{thread_id}/assignee", json={"assignee": "", "take_over": True})
        assert nobody.status_code == 422
    async with client(app, "reads only, this one") as api:
        assert (await api.post(f"/api/threads/{thread_id}/replies", json=body)).status_code == 403
        assert (await api.delete(f"/api/threads/{thread_id}/replies/{uuid4()}")).status_code == 403
        assert (await api.put(f"/api/threads/{thread_id}/assignee", json={"assignee": "x"})).status_code == 403


async def test_a_thread_is_answered_by_a_command(app: Tended, typed: Type, tmp_path: Path) -> None:
    """From --text, a file or standard input; what was sent is kept nowhere, what was refused is."""
    (row,) = await app.rows("SELECT thread_id FROM threads")
    thread_id = str(row["thread_id"])
    unsent = tmp_path / "home" / "unsent"
    sent = await typed("reply", thread_id[:8], "--text", "Dear Ada.", "--by", "grace")
    assert sent.exit_code == 0, sent.output
    assert "sent. 250" in sent.output, sent.output
    assert list(unsent.iterdir()) == []
    stale = await typed("reply", thread_id[:8], "--seen", "1", "--by", "grace", stdin="My long text.\n")
    assert stale.exit_code == 1
    assert "Not sent: 2 messages have come since you looked." in stale.output
    (kept,) = unsent.iterdir()
    assert kept.read_text() == "My long text."
    assert kept.stat().st_mode & 0o077 == 0
    assert str(kept) in stale.output.replace("\n", "")
    late = await typed("reply", thread_id[:8], "--file", str(kept), "--hold", "10", "--resolve", "--by", "grace")
    assert late.exit_code == 0, late.output
    assert "takes it back" in late.output, late.output
    (reply_row,) = await app.rows("SELECT reply_id FROM deliveries WHERE state = 'approved'")
    back = await typed("reply", "cancel", str(reply_row["reply_id"])[:8], "--by", "grace")
    assert back.exit_code == 0, back.output
    assert "grace took it back" in back.output, back.output
    again = await typed("reply", "cancel", str(await sent_reply(app))[:8])
    assert again.exit_code == 1
    assert "Too late" in again.output


async def sent_reply(app: Tended) -> UUID:
    (row,) = await app.rows("SELECT reply_id FROM deliveries WHERE state = 'sent'")
    found: UUID = row["reply_id"]
    return found


async def test_a_thread_is_taken_assigned_and_handed_back_by_commands(app: Tended, typed: Type) -> None:
    """Each shows the thread as it is then."""
    thread_id = str(await app.write("The CSV export stops after 500 rows."))[:8]
    taken = await typed("take", thread_id, "--by", "grace")
    assert "escalated" in taken.output, taken.output
    assert "has it: grace" in taken.output, taken.output
    assert "has it: bo" in (await typed("assign", thread_id, "bo")).output
    back = await typed("hand-back", thread_id, "--by", "bo")
    assert back.exit_code == 0, back.output
    assert "has it" not in back.output, back.output
    snoozed = await typed("snooze", thread_id, "2h", "--reason", "a release")
    assert "snoozed until 2026-01-05" in " ".join(snoozed.output.split())
    assert "snoozed" not in (await typed("snooze", thread_id)).output
    assert "write 3h, 2d" in " ".join((await typed("snooze", thread_id, "soon")).output.replace("│", " ").split())
    past = await typed("snooze", thread_id, "2001-01-01")
    assert (past.exit_code, "coming year" in past.output) == (1, True)
    assert (await typed("hand-back", thread_id)).exit_code in (0, 1)
    assert (await typed("take", thread_id, "--by", "x" * 200)).exit_code == 2
