"""The why side of a reply: the prompt as it was sent, what it took, and what shaped it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from psycopg.types.json import Jsonb

from deploy.local import Endpoints
from services.core.web import make_app
from services.model.usage import _is_named
from services.web.routes import routes
from tests.support.console import signed_in, text_of
from tests.support.scripted_model import ScriptedModel, Seen, reply_text, reply_tool, reply_tools
from tests.support.tending import Tended, tending

TOKEN = "t"
HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)>"
REPLY = {"text": "Hello Ada. The export is being looked at.", "state": "awaiting_reply"}


def rounds(request: Seen) -> Any:
    """Talks first, then looks something up and does what is refused, then answers."""
    if request.round == 0:
        return reply_text("Let me see.")
    if request.round == 1:
        return reply_tools(("search_knowledge", {"query": "export"}), ("send_mail", {"to": "all"}))
    return reply_tool("reply", REPLY)


@asynccontextmanager
async def scripted(
    stack: Endpoints, database: str, prefix: str, home: Path, **changes: Any
) -> AsyncIterator[tuple[Tended, ScriptedModel]]:
    """A deployment whose model is the scripted server."""
    async with ScriptedModel() as server:
        server.script(lambda seen: rounds(seen) if "reply" in seen.tools else None)
        said = {
            "web": {"api_token": TOKEN},
            "send": {"approval": "review"},
            "model": {"provider": "anthropic", "base_url": server.base_url, "api_key": "k", **changes.pop("model", {})},
            **changes,
        }
        async with tending(stack, database, prefix, home, **said) as app:
            yield app, server


def api(app: Tended) -> httpx.AsyncClient:
    """A client of the API."""
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def reply_of(app: Tended, thread_id: UUID) -> UUID:
    """The thread's reply."""
    (row,) = await app.rows("SELECT reply_id FROM deliveries WHERE thread_id = %(id)s", id=thread_id)
    found: UUID = row["reply_id"]
    return found


def read_by_model(seen: Seen) -> list[tuple[str, str]]:
    """What the server received that a model reads, in the order of the prompt, tools and its own words apart."""
    parts = [("system", seen.system)]
    for message in seen.body["messages"]:
        if message["role"] == "user":
            for block in message["content"]:
                text = block["content"] if block["type"] == "tool_result" else block["text"]
                parts.append(("result" if block["type"] == "tool_result" else "user", text))
    return parts


async def test_the_prompt_is_what_the_models_server_received(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Character by character, through rounds with talk, a search and a refusal; the page says so, and shows it as text."""
    async with scripted(stack, database, topic_prefix, tmp_path) as (app, server):
        thread_id = await app.write(f"The CSV export stops. {HOSTILE}", subject=HOSTILE)
        last = [one for one in server.requests if "reply" in one.tools][-1]
        async with api(app) as client:
            prompt = (await client.get(f"/api/replies/{await reply_of(app, thread_id)}/prompt")).json()
            assert (await client.get(f"/api/threads/{thread_id}/prompt")).json() == prompt
        shown = [(one["role"], one["text"]) for one in prompt["passages"]]
        assert [one for one in shown if one[0] not in ("tools", "assistant")] == read_by_model(last)
        assert last.round == 2
        (tools,) = [text for role, text in shown if role == "tools"]
        assert all(tool["name"] in tools and tool["description"] in tools for tool in last.body["tools"])
        assert (prompt["standing"], prompt["cut"]) == ("as_sent", False)
        assert REPLY["text"] in prompt["answer"]
        async with signed_in(app.app, role="viewer") as vic:
            page = await vic.get(f"/console/threads/{thread_id}/prompt")
    assert "This is what was sent" in text_of(page)
    assert "Let me see." in text_of(page)
    assert "<script>alert" not in page.text
    assert "<img src=x" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text


async def test_a_prompt_that_is_made_again_otherwise_says_so(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """What a fingerprint does not prove is called rebuilt; what it denies, another; and what is no longer kept is missing."""
    async with scripted(stack, database, topic_prefix, tmp_path) as (app, _):
        thread_id = await app.write("The CSV export stops.")
        place = f"/api/threads/{thread_id}/prompt"

        async def standing(change: str, **args: Any) -> tuple[str, bool, int]:
            async with app.app.database.reading() as conn:
                await conn.execute(change, args)  # type: ignore[call-overload]
            async with api(app) as client:
                found = (await client.get(place)).json()
            return found["standing"], found["cut"], len(found["passages"])

        answers = await app.rows("SELECT step, answer FROM checkpoints WHERE consumer = 'generate_reply'")
        opened = {row["step"]: row["answer"] for row in answers if row["step"].startswith("model.")}
        assert all(len(one["asked"]) == 64 for one in opened.values())
        put = "UPDATE checkpoints SET answer = %(answer)s WHERE consumer = 'generate_reply' AND step = %(step)s"
        first = opened["model.reply.0"]
        changed = await standing(put, step="model.reply.0", answer=Jsonb({**first, "asked": "0" * 64}))
        assert changed[:2] == ("another", False)
        older = {name: value for name, value in first.items() if name != "asked"}
        assert (await standing(put, step="model.reply.0", answer=Jsonb(older)))[:2] == ("rebuilt", False)
        whole = changed[2]
        gone = await standing("DELETE FROM checkpoints WHERE step = 'model.reply.2'")
        assert gone[1] is True
        assert gone[2] < whole
        assert await standing("DELETE FROM checkpoints WHERE consumer = 'generate_reply'") == ("rebuilt", True, 3)
        async with signed_in(app.app) as grace:
            page = await grace.get(f"/console/threads/{thread_id}/prompt")
    assert "Rebuilt from the stored context" in text_of(page)
    assert "not kept any more" in text_of(page)


async def test_a_reply_says_how_long_each_hop_took(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """From the mail to the reply that left, each by when its event was stored, and no other turn's among them."""
    async with scripted(stack, database, topic_prefix, tmp_path, send={"approval": "auto"}) as (app, _):
        thread_id = await app.write("The CSV export stops.")
        first = await reply_of(app, thread_id)
        await app.wait(hours=2)
        await app.write("It still stops.", after="<m1@acme.example>")
        (second,) = await app.rows("SELECT reply_id FROM deliveries WHERE reply_id <> %(id)s", id=first)
        stored = {
            row["type"]: row["stored_at"]
            for row in await app.rows("SELECT type, stored_at FROM events ORDER BY seq DESC")
        }
        async with api(app) as client:
            hops = (await client.get(f"/api/replies/{first}/cost")).json()["hops"]
            later = (await client.get(f"/api/replies/{second['reply_id']}/cost")).json()["hops"]
        async with signed_in(app.app, role="viewer") as vic:
            page = text_of(await vic.get(f"/console/replies/{first}/why"))
    stages = ["received", "understood", "taken_up", "remembered", "drafted", "approved", "left"]
    assert [one["stage"] for one in hops] == [one["stage"] for one in later] == stages
    began, left = stored["mail.received.v1"], stored["reply.sent.v1"]
    assert hops[-1]["since_ms"] == round((left - began).total_seconds() * 1000) == sum(one["took_ms"] for one in hops)
    assert later[0]["at"] > hops[-1]["at"]
    assert f"{hops[-1]['since_ms']} ms" in page
    assert "gone out" in page


PRICES = {"prices": {"input": 3, "output": 15}}
OPUS = [{"name": "opus", "then": {"set": {"model": "claude-opus-5-5"}}}]


@pytest.mark.parametrize(
    ("changes", "known", "told"),
    [
        ({"model": PRICES}, True, "US dollars"),
        ({}, False, "No prices are set"),
        ({"model": PRICES, "behaviours": OPUS}, False, "those of claude-sonnet-5-5"),
    ],
    ids=["priced", "no prices", "the prices of another model"],
)
async def test_money_that_is_not_known_is_not_invented(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, changes: dict[str, Any], known: bool, told: str
) -> None:
    """Tokens by the prices that are set for the model that wrote; without them, or of another model, it is unknown."""
    async with scripted(stack, database, topic_prefix, tmp_path, **changes) as (app, server):
        server.script(lambda seen: reply_tool("reply", REPLY) if "reply" in seen.tools else None)
        thread_id = await app.write("The CSV export stops.")
        usage = server.usages[0]
        async with api(app) as client:
            (money,) = (await client.get(f"/api/threads/{thread_id}/cost")).json()["money"]
        async with signed_in(app.app, role="viewer") as vic:
            page = text_of(await vic.get(f"/console/threads/{thread_id}/why"))
    counted = usage["input_tokens"] * 3 / 1e6 + usage["output_tokens"] * 15 / 1e6
    assert money["dollars"] == (round(counted, 6) if known else None)
    assert told in page
    assert ("Money unknown" in page) is not known


@pytest.mark.parametrize(
    ("answered", "named", "same"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5", True),
        ("claude-sonnet-5-5-20260101", "claude-sonnet-5-5", True),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest", True),
        ("claude-sonnet-5-5", "claude-sonnet-5", False),
        ("claude-sonnet-5-5-20260101", "claude-sonnet-5", False),
        ("claude-opus-5-5", "claude-sonnet-5-5", False),
    ],
)
def test_a_dated_version_is_the_model_of_its_name(answered: str, named: str, same: bool) -> None:
    """A provider that is asked for a name answers with a version of it; another model's prices are not its own."""
    assert _is_named(answered, named) is same


async def test_rules_tools_and_what_it_rests_on_are_named(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A rule of the operator by its name and where it was said, what the agent looked up, and what code refused."""
    rule = {"name": "export", "when": {"text_contains": ["export"]}, "then": {"say": "Ask for the browser."}}
    async with scripted(stack, database, topic_prefix, tmp_path, behaviours=[rule]) as (app, _):
        thread_id = await app.write("The CSV export stops.")
        async with signed_in(app.app, role="viewer") as vic:
            page = text_of(await vic.get(f"/console/threads/{thread_id}/why"))
    assert "Ask for the browser. behaviour export, for this mail" in page
    assert "looked in the knowledge base 0 passages" in page
    assert "there is no tool named 'send_mail'" in page


async def test_the_offline_model_is_said_to_have_read_data(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """It costs nothing, and the page claims no prompt that was sent."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as app:
        thread_id = await app.write("We are on the Team plan.")
        async with signed_in(app.app, role="viewer") as vic:
            why = text_of(await vic.get(f"/console/threads/{thread_id}/why"))
            prompt = text_of(await vic.get(f"/console/threads/{thread_id}/prompt"))
    assert "0.0000 US dollars no model of a provider was asked" in why
    assert "read these layers as data" in prompt
    assert "This is what was sent" not in prompt
