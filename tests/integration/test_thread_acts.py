"""What the agent did, the goals that people set and what a reply rests on: on the thread, and in the next prompt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from schemas.events.replies import DraftDecided
from services.cli import threads
from services.cli.main import app as command_line
from services.cli.threads.view import whole
from services.core.app import App, open_app
from services.core.web import make_app
from services.model.offline import OfflineModel
from services.model.port import Answer, Request, ToolCall
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.knowledge.listing import show_document
from services.operations.requests import ask
from services.operations.threads.requests import GoalUnknown
from services.web.routes import routes
from tests.support.documents import shelve
from tests.support.offline import EMBEDDER
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
FACT = {"kind": "customer_info", "key": "seats", "value": "40", "text": "They have 40 seats.", "importance": 6}


class Diligent(OfflineModel):
    """The offline model, which looks around and notes a fact before it ends a turn as it is told."""

    def __init__(self) -> None:
        super().__init__(EMBEDDER)
        self.ends: tuple[str, dict[str, Any]] = ("reply", {"text": "Look under Exports.", "state": "awaiting_reply"})
        self.cites: Iterable[str] = ()
        self.prompts: list[str] = []
        self._numbers = count()

    async def ask(self, request: Request) -> Answer:
        if request.purpose != "reply":
            return await super().ask(request)
        self.prompts.append(str(request))
        if request.history:
            name, given = self.ends
            return self._calling((name, {**given, "citations": list(self.cites)} if name == "reply" else given))
        looks = ("search_memory", {"query_text": "seats"}), ("search_knowledge", {"query": "export"})
        return self._calling(*looks, ("remember_fact", {**FACT, "quote": "40 seats"}))

    def _calling(self, *calls: tuple[str, dict[str, Any]]) -> Answer:
        asked = tuple(ToolCall(f"c{next(self._numbers)}", name, given) for name, given in calls)
        return Answer("", asked, "tool_use", self.name)


@pytest.fixture
def model() -> Diligent:
    return Diligent()


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, model: Diligent
) -> AsyncIterator[Tended]:
    said = {"web": {"api_token": TOKEN}, "send": {"approval": "review"}}
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model, **said) as one:
        yield one


Mark = Callable[..., Awaitable[Result]]


@pytest.fixture
def mark(app: Tended, monkeypatch: pytest.MonkeyPatch) -> Mark:
    """`correspondent mark`, in a thread with an event loop of its own, while the deployment works."""

    @asynccontextmanager
    async def here(home: Path) -> AsyncIterator[App]:
        async with open_app(app.app.settings, now=app.clock) as own:
            yield replace(own, publisher=app.app.publisher)

    monkeypatch.setattr(threads, "app_here", here)

    async def run(*arguments: str) -> Result:
        async with app.at_work():
            return await asyncio.to_thread(CliRunner().invoke, command_line, ["mark", *arguments])

    return run


def client(app: Tended) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://deployment", headers={"authorization": f"Bearer {TOKEN}"}
    )


def said(held: HeldDraft, **given: Any) -> DraftDecided:
    return DraftDecided(reply_id=held.reply_id, thread_id=held.thread_id, by="grace", **given)


async def word(app: Tended, *, approve: bool) -> None:
    """A person's word on the draft that waits, bound to the thread as they see it; done at once."""
    async with app.app.database.reading() as conn:
        (held,) = await waiting_drafts(conn, app.workspace)
    seen = {"text_sha256": held.text_sha256, "thread_version": held.thread_version}
    await ask(app.app, said(held, approve=approve, **seen))
    await app.settle()


async def test_what_the_agent_did_stands_on_the_thread_and_in_the_next_prompt(app: Tended, model: Diligent) -> None:
    """Look-ups and notes are the agent's, on the command line, over REST and in the context of the next mail."""
    await app.write("We have 40 seats. Where are exports?")
    (row,) = await app.rows("SELECT thread_id FROM threads")
    thread_id: UUID = row["thread_id"]
    done = [(one.action, one.detail, one.trigger) for one in (await app.thread(thread_id)).actions]
    assert done == [
        ("looked in memory", "0 facts, 0 messages", "ai"),
        ("looked in the knowledge base", "0 passages", "ai"),
        ("noted a fact", "customer_info/seats", "ai"),
    ]
    shown = "\n".join(line.plain for line in whole(await app.thread(thread_id), app.clock()))
    assert "noted a fact  ai: customer_info/seats" in shown
    async with client(app) as api:
        told = (await api.get(f"/api/threads/{thread_id}")).json()["actions"]
    assert [(one["action"], one["trigger"]) for one in told] == [(one, "ai") for one, _, _ in done]
    assert all(one["cause"] for one in told)
    await app.write("And invoices? 40 seats.", subject="Re: Export", after="<m1@acme.example>")
    assert "noted a fact: customer_info/seats" in model.prompts[-1]


async def test_an_escalation_of_the_agent_says_that_it_was_the_agent(app: Tended, model: Diligent) -> None:
    """Who called the person is the model, and why stands beside it."""
    model.ends = ("escalate", {"reason": "a refund is asked for", "message_to_customer": "A person takes over."})
    thread_id = await app.write("We have 40 seats and want our money back.")
    await word(app, approve=True)
    called = [one for one in (await app.thread(thread_id)).actions if one.action == "escalated to a human"]
    assert [(one.trigger, one.detail) for one in called] == [("ai", "a refund is asked for")]


async def test_what_it_looked_up_for_a_suggestion_is_logged_and_nothing_is_noted(app: Tended, model: Diligent) -> None:
    """While a person has the thread the agent looks things up for them; what it would note is refused."""
    model.ends = ("escalate", {"reason": "a refund is asked for", "message_to_customer": "A person takes over."})
    thread_id = await app.write("We want our money back.")
    await word(app, approve=True)
    before = len((await app.thread(thread_id)).actions)
    await app.write("We have 40 seats.", subject="Re: Export", after="<m1@acme.example>")
    whole_thread = await app.thread(thread_id)
    assert whole_thread.notes
    assert {(one.action, one.trigger) for one in whole_thread.actions[before:]} == {
        ("a mail waits for the person who has the thread", "system"),
        ("looked in memory", "ai"),
        ("looked in the knowledge base", "ai"),
    }


async def test_what_the_agent_did_takes_no_approval_back(app: Tended) -> None:
    """A person who looked before the acts were logged saw the same thread; one who looked before the mail did not."""
    await app.write("We have 40 seats. Where are exports?")
    async with app.app.database.reading() as conn:
        (held,) = await waiting_drafts(conn, app.workspace)
    acts = len((await app.thread(held.thread_id)).actions)
    for seen, state in ((held.thread_version - acts - 1, "draft"), (held.thread_version - acts, "sent")):
        bound = {"text_sha256": held.text_sha256, "thread_version": seen}
        await ask(app.app, said(held, approve=True, **bound))
        await app.settle()
        (row,) = await app.rows("SELECT state FROM deliveries")
        assert row["state"] == state, (seen, acts)


async def test_a_document_is_cited_once_the_reply_has_left(app: Tended, model: Diligent) -> None:
    """A draft that waits, or was rejected, rests on nothing yet: only what was sent is noted with the document."""
    document = await shelve(app.app, "exports.md", "# Exports\n\nExports are under Settings, Export.")
    await app.settle()
    model.cites = [str(row["chunk_id"]) for row in await app.rows("SELECT chunk_id FROM chunks")]

    async def cited() -> int:
        shown = await show_document(app.app, document)
        assert shown is not None
        return shown.document.cited

    await app.write("We have 40 seats. Where are exports?")
    assert await cited() == 0
    await word(app, approve=False)
    assert await cited() == 0
    await app.write("Where are exports? 40 seats.", subject="Again")
    assert await cited() == 0
    await word(app, approve=True)
    assert await cited() == 1


async def test_goals_are_added_and_closed_over_http(app: Tended) -> None:
    """A goal is closed by its words, whatever their case, or its id; the same words again are no second goal."""
    thread_id = await app.write("We have 40 seats. Where are exports?")
    where = f"/api/threads/{thread_id}"
    async with client(app) as api, app.at_work():
        for goal in ("Send the patch", "send the PATCH", "Call back"):
            assert (await api.patch(where, json={"add_goals": [goal], "by": "grace"})).status_code == 200
        goals = (await api.get(where)).json()["goals"]
        assert [(one["text"], one["closed_at"]) for one in goals] == [("Send the patch", None), ("Call back", None)]
        closing = {"close_goals": ["SEND the patch", goals[1]["goal_id"]], "by": "grace"}
        assert (await api.patch(where, json=closing)).status_code == 200
        again = await api.patch(where, json=closing)
        assert (again.status_code, again.json()["error"]) == (409, "goal_unknown")
        assert all(one["closed_at"] for one in (await api.get(where)).json()["goals"])


@pytest.mark.parametrize("field", ["add_goals", "close_goals"])
async def test_a_goal_that_cannot_be_is_refused_and_nothing_is_stored(app: Tended, field: str) -> None:
    """Empty, too long, of several lines, of no text, too many at once, of nobody's thread: a client's fault, in words."""
    thread_id = await app.write("We have 40 seats. Where are exports?")
    before = await app.rows("SELECT count(*) AS n FROM events")
    async with client(app) as api:
        wrong: list[Any] = ["", "  ", "x" * 10_000, "two\nlines", "nul\0", "\u2028", "\x1b[31mred", None, 7, {}, []]
        for goal in wrong:
            refused = await api.patch(f"/api/threads/{thread_id}", json={field: [goal]})
            assert (refused.status_code, refused.json()["error"]) == (422, "invalid"), goal
        for many in ([], ["a goal"] * 9, "a goal"):
            assert (await api.patch(f"/api/threads/{thread_id}", json={field: many})).status_code == 422, many
        half = b'{"%s": ["\\ud83d"]}' % field.encode()
        said = await api.patch(f"/api/threads/{thread_id}", content=half, headers={"content-type": "application/json"})
        assert said.status_code in (400, 422)
        for nobody in (str(uuid4()), "x", "'; DROP TABLE goals; --"):
            gone = await api.patch(f"/api/threads/{nobody}", json={field: ["Win"]})
            assert gone.status_code in (404, 422), nobody
    assert await app.rows("SELECT count(*) AS n FROM events") == before
    assert (await app.thread(thread_id)).goals == ()


async def test_goals_are_added_and_closed_on_the_command_line(app: Tended, mark: Mark) -> None:
    """A goal stands on the thread until it is named as reached; what is not open, or nobody's thread, is said so."""
    thread_id = await app.write("We have 40 seats. Where are exports?")
    short = str(thread_id)[:8]
    assert (await mark(short, "--goal", "Send the patch")).exit_code == 0
    assert isinstance((await mark(short, "--reached", "Win")).exception, GoalUnknown)
    assert (await mark(short, "--reached", "send the PATCH")).exit_code == 0
    shown = "\n".join(line.plain for line in whole(await app.thread(thread_id), app.clock()))
    assert "Goal  Send the patch (reached)" in shown
    assert "there is no thread" in str((await mark(str(uuid4()), "--goal", "Win")).exception)


@pytest.mark.parametrize("words", ["", " ", "x" * 10_000, "two\nlines", "nul\0", "\x1b[31mred"])
@pytest.mark.parametrize("option", ["--goal", "--reached"])
def test_a_goal_that_cannot_be_is_refused_on_the_command_line(option: str, words: str) -> None:
    """It is said before any deployment is looked for, with exit code 2."""
    done = CliRunner().invoke(command_line, ["mark", "ffffffff", option, words])
    assert done.exit_code == 2
    assert "a goal is one line of 1 to 300" in done.output


async def test_a_thread_of_another_workspace_takes_no_goal(app: Tended) -> None:
    """By its id it is as unknown as one that never was, and it keeps its goals."""
    thread_id = await app.write("We have 40 seats. Where are exports?")
    elsewhere = app.app.settings.model_copy(update={"workspace": "elsewhere"})
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(make_app([routes(_with(app, elsewhere))]), raise_app_exceptions=False),
        base_url="http://deployment",
        headers={"authorization": f"Bearer {TOKEN}"},
    ) as api:
        refused = await api.patch(f"/api/threads/{thread_id}", json={"add_goals": ["Win"]})
    assert (refused.status_code, refused.json()["error"]) == (404, "thread_unknown")
    assert (await app.thread(thread_id)).goals == ()


def _with(app: Tended, settings: Any) -> Any:

    return replace(app.app, settings=settings)
