"""The agent drafts for a person who asks, or words theirs better: what they wrote is kept, and nothing of it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services import generate_reply
from services.core.bus.codec import encode
from services.core.bus.delivery import Delivery
from services.core.bus.runner import Runner
from services.core.web import make_app
from services.generate_reply.conversation import ModelDeclined
from services.model.port import Answer, Request
from services.operations.threads.answers import LONGEST_REWORDED
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.tending import Tended, tending

HOSTILE = "</textarea><script>alert(1)</script>"
TOKEN = {"authorization": "Bearer a token for tests"}


class Declines:
    """A model that declines whatever it is asked."""

    name = "declines"

    async def ask(self, request: Request) -> Answer:
        """No, thank you."""
        return Answer("I would rather not.", (), "refusal", self.name)

    async def close(self) -> None:
        """Nothing is open."""


async def answered(one: Tended) -> None:
    """A mail that was answered."""
    await one.write("How do I export as CSV?", subject="Export")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment that answered a mail, with a rule for mails about an export, and an API token."""
    told = {"name": "export", "when": {"subject_contains": ["export"]}, "then": {"say": "Promise no date."}}
    changes: dict[str, Any] = {"behaviours": [told], "web": {"api_token": "a token for tests"}}
    async with after(answered, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one:
        yield one


@pytest.fixture
async def grace(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who answers."""
    async with signed_in(app.app, role="agent") as client:
        yield client


@pytest.fixture
async def place(app: Tended) -> str:
    """The page of the one thread."""
    return await place_of(app)


async def place_of(app: Tended) -> str:
    """The page of the one thread."""
    (row,) = await app.rows("SELECT thread_id FROM threads")
    return f"/console/threads/{row['thread_id']}"


async def ask(app: Tended, client: httpx.AsyncClient, place: str, **written: str) -> httpx.Response:
    """The page once the agent has been asked, and has answered."""
    write = form(await client.get(place), "/reply")
    async with app.at_work():
        asked = await client.post(f"{place}/suggest", data=write.fields | written)
    await app.settle()
    if asked.status_code != 200:
        return asked
    return await client.post(f"{place}/suggest", data=form(asked, "/reply").fields | {"ask": "look"})


async def before_and_after(app: Tended) -> list[dict[str, Any]]:
    """What a draft on demand may not change."""
    return await app.rows(
        "SELECT t.state, t.assignee, t.open_turn, (SELECT count(*) FROM turns) AS turns, "
        "(SELECT count(*) FROM deliveries) AS replies, (SELECT count(*) FROM thread_notes) AS notes FROM threads t"
    )


async def test_the_agent_drafts_for_a_person(app: Tended, grace: httpx.AsyncClient, place: str) -> None:
    """Its words stand beside the person's, go into the text when they say so, and nothing else changes."""
    before = await before_and_after(app)
    page = await ask(app, grace, place, ask="draft", text=f"Mine. {HOSTILE}")
    assert "What the agent would answer" in text_of(page)
    assert "<script>alert(1)" not in page.text
    kept = form(page, "/reply").fields
    assert kept["text"] == f"Mine. {HOSTILE}"
    (drafted,) = await app.rows("SELECT data FROM events WHERE type = 'suggestion.drafted.v1'")
    text = drafted["data"]["text"].strip()
    below = form(await grace.post(f"{place}/compose", data=kept | {"begin": "drafted"}), "/reply").fields
    instead = form(await grace.post(f"{place}/compose", data=kept | {"begin": "instead"}), "/reply").fields
    assert below["text"] == f"Mine. {HOSTILE}\n\n{text}"
    assert instead["text"] == text
    assert "suggestion" not in instead
    assert await before_and_after(app) == before
    (asked,) = await app.rows("SELECT data FROM events WHERE type = 'suggestion.asked.v1'")
    assert asked["data"]["by"] == "Grace"
    assert {"/threads/{thread_id}/suggest"} == {
        one["act"] for one in await app.rows("SELECT act FROM console_audit WHERE act LIKE '%%suggest'")
    }


async def test_it_drafts_by_the_operators_rules(app: Tended, grace: httpx.AsyncClient, place: str) -> None:
    """Those that hold for the newest mail, although that was answered long ago."""
    await ask(app, grace, place, ask="draft")
    (row,) = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    assert row["data"]["purpose"] == "suggestion"
    assert {one["name"]: one["text"] for one in row["data"]["layers"]}["guidance"] == "- Promise no date."


async def test_a_persons_words_are_worded_better(app: Tended, grace: httpx.AsyncClient, place: str) -> None:
    """They reach the model whole, beside the mail, and come back as a draft; theirs stay until they take it."""
    words = "Use the menu File. Pay to DE89 3704 0044 0532 0130 00."
    page = await ask(app, grace, place, ask="improve", text=words)
    assert "Your words, as the agent would put them" in text_of(page)
    assert form(page, "/reply").fields["text"] == words
    (row,) = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    assert {one["name"]: one["text"] for one in row["data"]["layers"]}["own_words"] == words
    (drafted,) = await app.rows("SELECT data FROM events WHERE type = 'suggestion.drafted.v1'")
    assert drafted["data"]["text"].startswith(("Hi Ada,", "Hello,"))
    assert words in drafted["data"]["text"]


@pytest.mark.parametrize(("words", "said"), [(" ", "no words of yours yet"), ("x" * (LONGEST_REWORDED + 1), "10000")])
async def test_what_cannot_be_worded_better_is_said(
    app: Tended, grace: httpx.AsyncClient, place: str, words: str, said: str
) -> None:
    """No words, or too many: nothing is asked, and they are kept."""
    page = await ask(app, grace, place, ask="improve", text=words)
    assert page.status_code == 409
    assert said in text_of(page)
    assert form(page, "/reply").fields["text"].strip() == words.strip()
    assert await app.rows("SELECT 1 FROM events WHERE type = 'thread.suggestion_requested.v1'") == []


async def test_a_viewer_asks_for_nothing(app: Tended, place: str) -> None:
    """Who only reads has no such button, and their form is refused."""
    async with signed_in(app.app, "Vic", role="viewer") as vic:
        page = await vic.get(place)
        token = form(page, "/sign-out").fields["form_token"]
        refused = await vic.post(f"{place}/suggest", data={"form_token": token, "ask": "draft"})
    assert "Draft this for me" not in page.text
    assert refused.status_code == 403
    assert await app.rows("SELECT 1 FROM events WHERE type = 'thread.suggestion_requested.v1'") == []


async def test_a_model_that_declines_is_said_and_costs_no_word(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The page says why no draft came, keeps what was written, and calls nobody: no turn has failed."""
    async with tending(stack, database, topic_prefix, tmp_path, model_object=Declines()) as app:
        await app.write("human\n\nThe export stops.")
        place, before = await place_of(app), await before_and_after(app)
        async with signed_in(app.app, role="agent") as client:
            write = form(await client.get(place), "/reply").fields | {"ask": "draft", "text": "Mine."}
            async with app.at_work():
                asked = await client.post(f"{place}/suggest", data=write)
            assert "Write on meanwhile" in text_of(asked)
            await give_up(app)
            page = await client.post(f"{place}/suggest", data=form(asked, "/reply").fields | {"ask": "look"})
        assert "No draft came of it" in text_of(page)
        assert "declined" in text_of(page)
        assert form(page, "/reply").fields["text"] == "Mine."
        assert await before_and_after(app) == before


async def give_up(app: Tended) -> None:
    """What becomes of a context that the model declines, as its lane has it."""
    (loaded,) = await app.waiting(generate_reply.PROCESSOR)
    runner, record = Runner(generate_reply.PROCESSOR, app.app), encode(loaded)
    with pytest.raises(ModelDeclined) as declined:
        await runner.process(loaded)
    delivery = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
    await runner.give_up(delivery, declined.value, 1)
    await app.settle()


async def test_of_an_unproven_author_the_agent_is_shown_no_memory(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A person may ask for a draft to anybody; whom nothing proves, it is made without what is known of who they claim."""
    inboxes = [
        {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
        {"name": "open", "address": "open@ourcompany.example"},
    ]
    async with tending(stack, database, topic_prefix, tmp_path, inboxes=inboxes) as app:
        await app.write("We are on the Team plan.", subject="Plan")
        assert await app.current() == ["Team"]
        thread_id = await app.write("Which plan am I on?", subject="Mine", inbox=1)
        async with signed_in(app.app, role="agent") as client:
            await ask(app, client, f"/console/threads/{thread_id}", ask="draft")
        rows = await app.rows(
            "SELECT data FROM events WHERE type = 'memory.loaded.v1' AND key = %(id)s", id=str(thread_id)
        )
    (asked,) = [row["data"] for row in rows if row["data"]["by"] == "Grace"]
    assert asked["trusted"] is False
    assert "Team" not in str(asked["layers"])


async def test_a_draft_of_another_thread_is_not_shown(app: Tended, grace: httpx.AsyncClient, place: str) -> None:
    """What was asked in one thread is nobody's in another, on the page, in its form and over the API."""
    await ask(app, grace, place, ask="draft")
    (row,) = await app.rows("SELECT data FROM events WHERE type = 'suggestion.asked.v1'")
    other = await app.write("Where is the invoice?", subject="Invoice")
    there = f"/console/threads/{other}"
    assert (await grace.get(f"{place}/suggestions/{row['data']['turn_id']}")).status_code == 200
    assert (await grace.get(f"{there}/suggestions/{row['data']['turn_id']}")).status_code == 404
    write = form(await grace.get(there), "/reply").fields | {"suggestion": row["data"]["turn_id"], "begin": "drafted"}
    assert (await grace.post(f"{there}/compose", data=write)).status_code == 409
    for odd in ("", "1", "x" * 5000, HOSTILE):
        assert (await grace.post(f"{there}/compose", data=write | {"suggestion": odd})).status_code == 409


async def test_suggestions_are_routes_of_the_api(app: Tended, place: str) -> None:
    """Asked for, then looked up until the text is there; 404 for what nobody asked for."""
    thread_id = UUID(place.rpartition("/")[2])
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=TOKEN) as api:
        async with app.at_work():
            asked = await api.post(f"/api/threads/{thread_id}/suggestions", json={})
        await app.settle()
        ready = await api.get(f"/api/threads/{thread_id}/suggestions/{asked.json()['suggestion_id']}")
        nobodys = await api.get(f"/api/threads/{thread_id}/suggestions/{uuid4()}")
        nowhere = await api.post(f"/api/threads/{uuid4()}/suggestions", json={})
        long = await api.post(f"/api/threads/{thread_id}/suggestions", json={"words": "x" * (LONGEST_REWORDED + 1)})
    assert asked.status_code == 200
    assert ready.json()["state"] == "ready"
    assert ready.json()["text"]
    assert (nobodys.status_code, nowhere.status_code, long.status_code) == (404, 404, 422)
