"""The REST API of memory: bearer token, reads with provenance, wishes that learn_facts decides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.remembering import ADA, Memory, day, fact, remembering

TOKEN = "a token for tests"
QUOTE = "on the Team plan"


async def told(one: Memory) -> None:
    """A plan."""
    await one.tell("We are on the Team plan.", fact("plan", "Team", QUOTE), on=1)


@pytest.fixture
async def memory(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with after(
        told, remembering, stack, template_database, topic_prefix, tmp_path, web={"api_token": TOKEN}
    ) as one:
        yield one


def client(memory: Memory, token: str = TOKEN) -> httpx.AsyncClient:
    web_app = make_app([routes(memory.app)])
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(web_app, raise_app_exceptions=False),
        base_url="http://deployment",
        headers=headers,
    )


async def the_plan(api: httpx.AsyncClient) -> dict[str, Any]:
    entries = (await api.get(f"/api/participants/{ADA}/facts")).json()
    (entry,) = [one for one in entries if one["fact"]["key"] == "plan"]
    return dict(entry)


async def test_without_the_token_nothing_is_told(memory: Memory) -> None:
    """No token, a wrong one, and a deployment that has none: each is refused with its own word."""
    async with client(memory, "") as nobody, client(memory, "guessed") as guesser:
        for api, code in ((nobody, "token_missing"), (guesser, "token_wrong")):
            answer = await api.get(f"/api/participants/{ADA}/facts")
            assert (answer.status_code, answer.json()["error"]) == (401, code)
            assert "Team" not in answer.text


async def test_a_deployment_without_a_token_has_no_api(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """An empty token opens nothing, and the refusal says which setting is missing."""
    async with remembering(stack, database, topic_prefix, tmp_path) as one, client(one, "x") as api:
        answer = await api.get("/api/participants")
    assert (answer.status_code, answer.json()["error"]) == (403, "api_off")
    assert "web.api_token" in answer.json()["message"]


async def test_a_fact_comes_with_its_mail_its_words_and_its_decisions(memory: Memory) -> None:
    """Message id, quote, span, source and log stand beside the value; address and id name the same person."""
    async with client(memory) as api:
        entry = await the_plan(api)
        by_id = (await api.get(f"/api/participants/{memory.person()}/facts")).json()
    assert by_id == [entry]
    (mail,) = await memory.rows("SELECT message_id, text FROM mails")
    told, (source,), (line,) = entry["fact"], entry["sources"], entry["log"]
    assert mail["text"][told["span_start"] : told["span_end"]] == told["quote"] == source["quote"] == QUOTE
    assert told["source_message_id"] == source["message_id"] == mail["message_id"]
    assert (line["decision"], line["reason"]) == ("recorded", "new")


async def test_reads_find_by_meaning_by_time_and_by_key(memory: Memory) -> None:
    """Search says how sure it is; as-of and history answer for a time and a key."""
    memory.clock.forward(day(2))
    async with client(memory) as api:
        found = (await api.get(f"/api/participants/{ADA}/facts/search", params={"q": "which plan"})).json()
        before = await api.get(f"/api/participants/{ADA}/facts/as-of", params={"at": day(0).isoformat()})
        after = await api.get(f"/api/participants/{ADA}/facts/as-of", params={"at": day(2).isoformat()})
        other = await api.get(f"/api/participants/{ADA}/facts/history", params={"key": "seats"})
    assert found["facts"][0]["fact"]["value"] == "Team"
    assert found["verdict"] in ("sure", "rings a bell", "nothing")
    assert before.json() == other.json() == []
    assert [one["value"] for one in after.json()] == ["Team"]


async def test_a_wish_is_decided_by_learn_facts_and_its_decision_comes_back(memory: Memory) -> None:
    """Add, correct, pin, unpin and forget go through the log, with the person who asked."""
    path = f"/api/participants/{ADA}/facts"
    async with client(memory) as api, memory.at_work():
        added = (await api.post(path, json={"key": "language", "value": "German", "by": "grace"})).json()
        plan = (await the_plan(api))["fact"]["fact_id"]
        right = (await api.put(f"{path}/{plan}", json={"value": "Growth", "by": "grace"})).json()
        pinned = (await api.put(f"{path}/{right['fact_id']}/pin")).json()
        unpinned = (await api.delete(f"{path}/{right['fact_id']}/pin")).json()
        gone = (await api.delete(f"{path}/{added['fact_id']}", params={"by": "grace"})).json()
        facts = (await api.get(path)).json()
    assert [one["decision"] for one in (added, right, pinned, unpinned, gone)] == [
        "recorded",
        "recorded",
        "pinned",
        "unpinned",
        "retracted",
    ]
    assert gone["reason"] == "grace took it back"
    assert [(one["fact"]["key"], one["fact"]["value"]) for one in facts] == [("plan", "Growth")]
    requests = await memory.rows("SELECT source FROM events WHERE type = 'fact.requested.v1'")
    assert [row["source"] for row in requests] == ["console"] * 5


async def test_a_wish_that_cannot_be_granted_is_refused_in_words(memory: Memory) -> None:
    """Another person's fact, an unknown person and a bad body: 409, 404 and 422, and nothing changes."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", QUOTE), on=1, sender="bob@else.example")
    before = await memory.rows("SELECT fact_id, value, pinned FROM facts ORDER BY fact_id")
    async with client(memory) as api, memory.at_work():
        plan = (await the_plan(api))["fact"]["fact_id"]
        foreign = await api.put(f"/api/participants/bob@else.example/facts/{plan}", json={"value": "Free"})
        nobody = await api.post("/api/participants/no@one.example/facts", json={"key": "plan", "value": "Free"})
        empty = await api.post(f"/api/participants/{ADA}/facts", json={"key": "plan"})
        never = {"key": "plan", "value": "Free", "valid_to": "9999-12-31"}
        assert (await api.post(f"/api/participants/{ADA}/facts", json=never)).status_code == 422
        read = await api.get(f"/api/participants/bob@else.example/facts/{plan}")
    assert (foreign.status_code, foreign.json()) == (409, {"error": "refused", "message": "there is no such fact"})
    assert (nobody.status_code, nobody.json()["error"]) == (404, "participant_unknown")
    assert (empty.status_code, read.status_code) == (422, 404)
    assert await memory.rows("SELECT fact_id, value, pinned FROM facts ORDER BY fact_id") == before


async def test_a_wish_that_waits_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where learn_facts is not running, the wish is on the log and the answer is 202, pending."""
    monkeypatch.setattr("services.web.facts.WAIT_S", 0.2)
    async with client(memory) as api:
        answer = await api.post(f"/api/participants/{ADA}/facts", json={"key": "language", "value": "German"})
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    await memory.settle()
    assert await memory.current("language") == ["German"]


async def test_a_person_is_moved_along_the_lifecycle_and_it_is_logged(memory: Memory) -> None:
    """A legal step is made with its cause, one that is no edge is refused with 409, both are read with mood and troubles."""
    where = f"/api/participants/{ADA}/lifecycle"
    async with memory.at_work(), client(memory) as api:
        made = await api.post(where, json={"to": "customer", "reason": "paid", "by": "grace"})
        again = await api.post(where, json={"to": "customer", "by": "grace"})
        refused = await api.post(where, json={"to": "churned", "by": "grace"})
        unknown = await api.post(where, json={"to": "emperor", "by": "grace"})
        told = (await api.get(where)).json()
    assert (made.status_code, made.json()["trigger"], made.json()["reason"]) == (200, "human", "grace: paid")
    assert (again.status_code, again.json()) == (200, None)
    assert (refused.status_code, refused.json()["error"], unknown.status_code) == (409, "step_refused", 422)
    assert [(one["to_state"], bool(one["refused"]), bool(one["cause"])) for one in told["steps"]] == [
        ("customer", False, True),
        ("churned", True, True),
    ]
    assert (told["state"], len(told["moods"]), told["moods"][0]["risk"]) == ("customer", 1, "low")


async def test_the_api_describes_itself(memory: Memory) -> None:
    """The OpenAPI document names every path, with the bearer token on each."""
    async with client(memory, "") as api:
        document = (await api.get("/openapi.json")).json()
    paths = {path: set(methods) for path, methods in document["paths"].items()}
    assert paths["/api/participants/{who}/facts"] == {"get", "post"}
    assert paths["/api/participants/{who}/facts/{fact_id}"] == {"get", "put", "delete"}
    secured = [one.get("security") for methods in document["paths"].values() for one in methods.values()]
    assert secured
    assert all(secured)
