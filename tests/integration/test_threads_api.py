"""The REST API of threads and drafts: bearer token, whole threads, requests that processors decide, hostile input."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.settings import WebSettings
from services.core.units import MB
from services.core.web import listen, make_app, serve
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.bus import PATIENCE_S
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
HOSTILE = ["'; DROP TABLE threads; --", "\u0000", "../../etc", "%27%20OR%201=1", "\u202e", "x" * 5000, "<script>"]


async def waiting(one: Tended) -> None:
    """A mail whose reply waits."""
    await one.write("The CSV export stops after 500 rows.")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment at work in which every reply waits for a person."""
    said = {"web": {"api_token": TOKEN}, "send": {"approval": "review"}}
    async with after(waiting, tending, stack, template_database, topic_prefix, tmp_path, **said) as one, one.at_work():
        yield one


def client(app: Tended, token: str = TOKEN) -> httpx.AsyncClient:
    web_app = make_app([routes(app.app)])
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(web_app, raise_app_exceptions=False),
        base_url="http://deployment",
        headers=headers,
    )


async def only_thread(api: httpx.AsyncClient) -> dict[str, Any]:
    (line,) = (await api.get("/api/threads")).json()
    return dict((await api.get(f"/api/threads/{line['thread_id']}")).json())


async def soon(app: Tended, query: str) -> list[dict[str, Any]]:
    """The rows of a query, as soon as there are any."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await app.rows(query)):
            await asyncio.sleep(0.05)
    return found


async def test_a_thread_is_read_whole_and_moved_by_legal_steps_alone(app: Tended) -> None:
    """What the state machine does not have is refused with 409 and logged; a legal step is made, with who and why."""
    async with client(app) as api:
        whole = await only_thread(api)
        steps = f"/api/threads/{whole['thread']['thread_id']}/steps"
        refused = await api.post(steps, json={"to": "closed", "reason": "tired", "by": "grace"})
        made = await api.post(steps, json={"to": "escalated", "reason": "hers", "by": "grace"})
        wrong = await api.post(steps, json={"to": "resolved", "by": "grace"})
        back = await api.post(steps, json={"to": "in_progress", "by": "grace"})
        resolved = await api.post(steps, json={"to": "resolved", "reason": "by telephone", "by": "grace"})
        after = await only_thread(api)
    assert whole["thread"]["state"] == "in_progress"
    assert [one["role"] for one in whole["conversation"]] == ["customer"]
    assert (refused.status_code, refused.json()["error"]) == (409, "step_refused")
    assert "awaiting_reply, escalated, resolved" in refused.json()["message"]
    assert made.json() == {"from_state": "in_progress", "to_state": "escalated"}
    assert "only a human hands an escalated thread back" in wrong.json()["message"]
    assert (back.status_code, resolved.status_code) == (200, 200)
    asked = [(one["from_state"], one["to_state"], bool(one["refused"])) for one in after["log"]][1:]
    assert asked == [
        ("in_progress", "closed", True),
        ("in_progress", "escalated", False),
        ("escalated", "resolved", True),
        ("escalated", "in_progress", False),
        ("in_progress", "resolved", False),
    ]
    assert all(one["cause"] for one in after["log"])
    assert after["log"][-1]["reason"] == "grace: by telephone"


async def test_a_thread_that_a_person_resolves_is_not_answered_by_the_agent(app: Tended) -> None:
    """The open turn, and what waits, end as taken over by a person; the held draft does not wait any more."""
    async with client(app) as api:
        thread_id = (await only_thread(api))["thread"]["thread_id"]
        assert len((await api.get("/api/drafts")).json()) == 1
        await api.post(f"/api/threads/{thread_id}/steps", json={"to": "resolved", "by": "grace"})
        assert (await api.get("/api/drafts")).json() == []
    (turn,) = await app.rows("SELECT outcome, reason FROM turns")
    assert (turn["outcome"], turn["reason"]) == ("human_took_over", "a person resolved the thread")


async def test_marks_and_notes_stand_on_the_thread_with_who_and_why(app: Tended) -> None:
    """Priority, tags and notes are decided by track_threads and visible with reason and cause; lists filter by them."""
    async with client(app) as api:
        thread_id = (await only_thread(api))["thread"]["thread_id"]
        command = {"priority": "high", "add_tags": ["export", "bug"], "reason": "a launch", "by": "grace"}
        line = (await api.patch(f"/api/threads/{thread_id}", json=command)).json()
        await api.patch(f"/api/threads/{thread_id}", json={"remove_tags": ["bug"], "by": "grace"})
        note = await api.post(f"/api/threads/{thread_id}/notes", json={"text": "She called.", "by": "grace"})
        whole = await only_thread(api)
        found = {tag: len((await api.get("/api/threads", params={"tag": tag})).json()) for tag in ("export", "bug")}
    assert (line["priority"], line["tags"]) == ("high", ["bug", "export"])
    assert (note.status_code, [(one["by"], one["text"]) for one in whole["notes"]]) == (201, [("grace", "She called.")])
    assert found == {"export": 1, "bug": 0}
    details = [one["detail"] for one in whole["actions"]]
    assert details == ["normal -> high: grace: a launch", "+bug +export: grace: a launch", "-bug: grace"]
    assert {one["trigger"] for one in whole["actions"]} == {"human"}


async def test_a_draft_is_approved_as_it_was_seen_and_once(app: Tended) -> None:
    """The word is bound to the text and the thread; another hash is refused, and a second word finds nothing."""
    async with client(app) as api:
        (draft,) = (await api.get("/api/drafts")).json()
        where = f"/api/drafts/{draft['reply_id']}"
        assert (await api.get(where)).json() == draft
        seen = {"text_sha256": draft["text_sha256"], "thread_version": draft["thread_version"], "by": "grace"}
        other = await api.post(f"{where}/approve", json={**seen, "text_sha256": "0" * 64})
        approved = await api.post(f"{where}/approve", json={**seen, "text": "In my own words."})
        again = await api.post(f"{where}/approve", json=seen)
    assert (other.status_code, other.json()["error"]) == (409, "draft_changed")
    assert approved.status_code == 200, approved.text
    assert approved.json()["state"] in ("approved", "sending", "sent")
    assert (again.status_code, again.json()["error"]) == (404, "draft_unknown")
    (reply,) = await soon(app, "SELECT text FROM conversation WHERE role = 'agent'")
    assert reply["text"] == "In my own words."


async def test_files_are_approved_over_http_within_their_limits(app: Tended) -> None:
    """An approval takes files in base64: too large, too many, no base64 or a path for a name are refused by name."""
    web_app = make_app([routes(app.app)])
    with listen(WebSettings(host="127.0.0.1", port=0)) as listening:
        stop, where = asyncio.Event(), f"http://127.0.0.1:{listening.getsockname()[1]}"
        serving = asyncio.create_task(serve(web_app, listening, stop))
        try:
            async with httpx.AsyncClient(
                base_url=where, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60
            ) as api:
                refused, approved = await _approved_with_files(api)
        finally:
            stop.set()
            await serving
    assert refused == {
        "large": (413, "files_too_large"),
        "body": (413, "too_large"),
        "many": (422, "invalid"),
        "no base64": (422, "invalid"),
        "path": (422, "invalid"),
        "stranger": (401, "token_wrong"),
        "changed": (409, "draft_changed"),
    }
    assert approved.status_code == 200, approved.text
    (event,) = await soon(app, "SELECT data FROM events WHERE type = 'draft.decided.v1'")
    (kept,) = event["data"]["files"]
    assert (kept["filename"], kept["content_type"], kept["size"]) == ("offer.pdf", "application/pdf", 14)
    assert await app.app.blobs.get(kept["blob"]) == b"%PDF-1.7 offer"


async def _approved_with_files(api: httpx.AsyncClient) -> tuple[dict[str, tuple[int, str]], httpx.Response]:
    (draft,) = (await api.get("/api/drafts")).json()
    where = f"/api/drafts/{draft['reply_id']}/approve"
    seen = {"text_sha256": draft["text_sha256"], "thread_version": draft["thread_version"], "by": "grace"}
    offer = _file("offer.pdf", b"%PDF-1.7 offer")
    bodies = {
        "large": {**seen, "files": [_file("a.bin", bytes(6 * MB)), _file("b.bin", bytes(5 * MB - MB // 2))]},
        "body": {**seen, "files": [_file("a.bin", bytes(12 * MB))]},
        "many": {**seen, "files": [offer] * 21},
        "no base64": {**seen, "files": [{"filename": "offer.pdf", "content": "%%%"}]},
        "path": {**seen, "files": [_file("../offer.pdf", b"x")]},
        "changed": {**seen, "text_sha256": "0" * 64, "files": [offer]},
    }
    refused = {name: await api.post(where, json=body) for name, body in bodies.items()}
    refused["stranger"] = await api.post(where, json={**seen, "files": [offer]}, headers={"authorization": "Bearer x"})
    said = {name: (one.status_code, one.json()["error"]) for name, one in refused.items()}
    return said, await api.post(where, json={**seen, "files": [offer]})


def _file(name: str, content: bytes) -> dict[str, str]:
    return {"filename": name, "content": base64.b64encode(content).decode()}


async def test_a_draft_is_rejected_with_its_reason(app: Tended) -> None:
    """The turn ends as rejected, and says who did it and why."""
    async with client(app) as api:
        (draft,) = (await api.get("/api/drafts")).json()
        answer = await api.post(f"/api/drafts/{draft['reply_id']}/reject", json={"reason": "wrong plan", "by": "grace"})
    assert answer.json()["state"] == "discarded"
    (turn,) = await soon(app, "SELECT outcome, reason FROM turns WHERE closed_at IS NOT NULL")
    assert turn["outcome"] == "rejected"
    assert "wrong plan" in turn["reason"]


async def test_without_the_token_nothing_is_told_and_nothing_done(app: Tended) -> None:
    """Every route of the document is behind the token."""
    async with client(app, "") as nobody, client(app) as api:
        document = (await api.get("/openapi.json")).json()
        paths = [(path, method) for path, methods in document["paths"].items() for method in methods]
        assert {path for path, _ in paths} >= {
            "/api/threads",
            "/api/threads/{thread_id}",
            "/api/deadlines",
            "/api/drafts",
        }
        for path, method in paths:
            filled = path.replace("{thread_id}", str(uuid4())).replace("{reply_id}", str(uuid4()))
            answer = await nobody.request(method, filled, json={})
            assert answer.status_code == 401, (path, method, answer.text)


async def test_hostile_input_is_refused_in_words(app: Tended) -> None:
    """No id, filter, tag or state that cannot be is looked up or stored; the answer is a client's fault, never ours."""
    as_json = {"content-type": "application/json"}
    async with client(app) as api:
        thread_id = (await only_thread(api))["thread"]["thread_id"]
        notes, steps = f"/api/threads/{thread_id}/notes", f"/api/threads/{thread_id}/steps"
        for text in HOSTILE:
            asked = [
                await api.get("/api/threads", params={"tag": text}),
                await api.get("/api/threads", params={"state": text}),
                await api.get("/api/threads", params={"limit": text}),
                await api.post(steps, json={"to": text}),
                await api.patch(f"/api/threads/{thread_id}", json={"add_tags": [text]}),
                await api.patch(f"/api/threads/{thread_id}", json={"priority": text}),
                await api.patch(f"/api/threads/{thread_id}", json={"reason": text}),
                await api.post(notes, json={"text": text, "unknown": 1}),
                await api.post("/api/drafts/x/approve", json={"text_sha256": text}),
            ]
            assert {(one.status_code, one.json()["error"]) for one in asked} == {(422, "invalid")}, text
            assert (await api.get("/api/threads", params={"inbox": text})).status_code in (200, 422)
        for where in (notes, steps):
            for half in (
                b'{"text": "half a character \\ud83d"}',
                b'{"to": "closed", "reason": "\\u0000"}',
                b"{",
                b"\xff",
            ):
                answer = await api.post(where, content=half, headers=as_json)
                assert answer.status_code in (400, 422), half
                assert answer.json()["error"] in ("bad_request", "invalid"), half
    whole = await app.thread(UUID(thread_id))
    assert (whole.thread.tags, whole.notes, len(whole.log)) == ([], (), 1)


async def test_what_is_not_there_is_not_found(app: Tended) -> None:
    """An id of nobody, or of another workspace, is the same as none."""
    async with client(app) as api:
        for path in ("/api/threads/{id}", "/api/drafts/{id}"):
            assert (await api.get(path.format(id=uuid4()))).status_code == 404
        gone = await api.post(f"/api/threads/{uuid4()}/steps", json={"to": "resolved"})
    assert (gone.status_code, gone.json()["error"]) == (404, "thread_unknown")


async def test_a_note_is_kept_as_it_was_written(app: Tended) -> None:
    """Text of people is text: no markup, no statement."""
    words = ["\U0001f600 ok", "'; DROP TABLE thread_notes; --", "<b>bold</b>\n\n  second line"]
    async with client(app) as api:
        thread_id = (await only_thread(api))["thread"]["thread_id"]
        for text in words:
            assert (await api.post(f"/api/threads/{thread_id}/notes", json={"text": text})).status_code == 201
        assert [one["text"] for one in (await only_thread(api))["notes"]] == words
