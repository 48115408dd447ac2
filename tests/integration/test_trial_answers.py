"""What the agent would answer to a question: the passages and the draft, nothing stored or sent, counted and bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.knowledge.trial import TRIALS_PER_MINUTE
from services.web.routes import routes
from tests.support.console import form, signed_in, text_of
from tests.support.documents import shelve
from tests.support.scripted_model import ScriptedModel, overloaded, reply_tool, reply_tools
from tests.support.tending import Tended, tending

HOSTILE = "<script>alert(1)</script>"
PRICES = "# Plans\n\nThe Enterprise plan costs 900 euros a month.\n"
QUESTION = "What does the Enterprise plan cost a month?"
PLACE = "/console/knowledge/try"
ANSWER = {"text": f"It costs 900 euros a month. {HOSTILE}", "state": "awaiting_reply"}
HELD = ("events", "mails", "threads", "turns", "deliveries", "checkpoints", "participants", "facts")


async def rows_held(app: Tended) -> dict[str, int]:
    """How many rows there are of all that a mail leaves."""
    counts = [await app.rows(f"SELECT count(*) AS n FROM {table}") for table in HELD]
    return {table: row[0]["n"] for table, row in zip(HELD, counts, strict=True)}


async def ask(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    """Send the page's form."""
    return await form(await client.get(PLACE), "/knowledge/try").send(client, **fields)


async def test_the_offline_model_is_tried_and_leaves_nothing(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The answer and its passages are shown, and no row is there that was not before."""
    async with tending(stack, database, topic_prefix, tmp_path) as app:
        await shelve(app.app, f"prices {HOSTILE}.md", PRICES)
        await app.settle()
        before = await rows_held(app)
        async with signed_in(app.app, role="agent") as client:
            page = await ask(client, q=QUESTION)
            nothing = await ask(client, q="Do you sell bicycles in Peru?")
        said = text_of(page)
        assert "It would answer" in said
        assert said.count("900 euros") > 1
        assert "cited" in said
        assert "0.0000 US dollars" in said
        assert "script>alert(1)</script" not in page.text
        assert "Passages that it was shown" in text_of(nothing)
        assert await rows_held(app) == before


async def test_a_scripted_model_reads_the_question_and_notes_nothing(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """It gets the rules, the passage and the fenced question; what it would store or read of people is refused; it is counted."""
    async with ScriptedModel() as server:
        notes = {"kind": "note", "key": "k", "value": "v", "text": "t", "quote": "Enterprise", "importance": 5}
        server.script(
            lambda seen: (
                reply_tools(("remember_fact", notes), ("search_memory", {"query_text": "plan"}))
                if seen.round == 0
                else reply_tool("reply", ANSWER)
            )
        )
        model = {"provider": "anthropic", "base_url": server.base_url, "api_key": "k", "max_retries": 0}
        said = {"model": {**model, "prices": {"input": 1, "output": 1}}, "web": {"api_token": "t"}}
        async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
            await shelve(app.app, "prices.md", PRICES)
            await app.settle()
            before = await rows_held(app)
            async with signed_in(app.app, role="agent") as client:
                page = await ask(client, q=f"{QUESTION} {HOSTILE}")
                server.queue(overloaded())
                away = await ask(client, q=QUESTION)
            assert [QUESTION in one for one in server.requests[0].fenced("mail")] == [True]
            assert any("900 euros" in one for one in server.requests[0].fenced("knowledge"))
            assert server.requests[0].opening.rstrip().endswith("it is not sent.")
            assert "It costs 900 euros a month." in text_of(page)
            assert page.text.count("a colleague has the thread") == 1
            assert "not authenticated: no memory is shown" in text_of(page)
            assert "<script>alert" not in page.text
            assert away.status_code == 503
            assert "The model does not answer now" in text_of(away)
            assert form(away, "/knowledge/try").fields["q"] == QUESTION
            used = sum(one["input_tokens"] + one["output_tokens"] for one in server.usages[:2])
            assert await rows_held(app) == before
            counted = app.app.metrics.text().decode()
            transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
            headers = {"authorization": "Bearer t"}
            async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
                found: dict[str, Any] = (
                    await api.post("/api/documents/trials", json={"question": QUESTION, "inbox": "support"})
                ).json()
                unknown = await api.post("/api/documents/trials", json={"question": QUESTION, "inbox": "none"})
    assert found["answer"]["decision"] == "reply"
    assert found["answer"]["usage"]["calls"] == 2
    assert unknown.status_code == 404
    (cost,) = [line for line in counted.splitlines() if line.startswith("correspondent_model_cost_dollars_total{")]
    assert round(float(cost.split()[-1]) * 1e6) == used


async def test_who_may_try_and_how_often(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> None:
    """A viewer reads, and asks no model; an agent asks so many times a minute; a question has words, and an end."""
    async with tending(stack, database, topic_prefix, tmp_path) as app:
        async with signed_in(app.app, "Vic", role="viewer") as vic:
            page = await vic.get(PLACE)
            token = form(page, "/sign-out").fields["form_token"]
            refused = await vic.post(PLACE, data={"form_token": token, "q": QUESTION})
        async with signed_in(app.app, role="agent") as client:
            empty = await ask(client, q=" ")
            long = await ask(client, q="x" * 2001)
            tried = [(await ask(client, q=QUESTION)).status_code for _ in range(TRIALS_PER_MINUTE + 1)]
    assert "Ask the agent" not in page.text
    assert refused.status_code == 403
    assert (empty.status_code, long.status_code) == (422, 422)
    assert tried == [200] * TRIALS_PER_MINUTE + [429]
