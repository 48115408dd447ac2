"""What colleagues think of a reply that left: said on its thread's page or over the API, counted where quality is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.quality import Tally, quality
from services.web.routes import routes
from tests.support.beginning import after, answered
from tests.support.console import form, signed_in, text_of
from tests.support.tending import Tended, tending

TOKEN = "a token for tests only"


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment whose agent has answered one mail."""
    changes: dict[str, Any] = {"web": {"api_token": TOKEN}}
    async with after(answered, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one:
        yield one


def api(app: Tended) -> httpx.AsyncClient:
    """A program with the deployment's token."""
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def sent(app: Tended) -> dict[str, Any]:
    """The reply that left."""
    (row,) = await app.rows("SELECT reply_id, thread_id, inbox, intent, model FROM deliveries WHERE state = 'sent'")
    return row


async def test_a_reply_is_judged_on_its_thread_and_counted_by_all_that_it_is_of(app: Tended) -> None:
    """A judgement stands below the reply with its name, replaces one's last, and is taken back; quality counts each."""
    reply = await sent(app)
    assert reply["model"], "the model that wrote it is known"
    address = f"/console/threads/{reply['thread_id']}"
    async with signed_in(app.app) as grace, signed_in(app.app, "Bob", role="agent") as bob:
        bad = await form(await grace.get(address), "/thumb").send(grace, thumb="bad", reason="wrong tone")
        assert "Grace : wrong tone" in text_of(bad)
        await form(await bob.get(address), "/thumb").send(bob, thumb="good")
        found = await quality(app.app, 4)
        assert (found.every.total.liked, found.every.total.disliked) == (1, 1)
        assert found.every.total.liked_share == 0.5
        for name, trends in (("inbox", found.inboxes), ("intent", found.intents), ("model", found.models)):
            (trend,) = trends
            assert (trend.name, trend.total.judged, trend.weeks[-1].judged) == (reply[name], 2, 2)
        (model,) = found.models
        assert model.total.sent == 1
        assert found.reasons == (("wrong tone", 1),)
        said = text_of(await grace.get("/console/quality"))
        assert "By model" in said
        assert "50 % of 2" in said
        assert "Why colleagues found replies not good wrong tone 1" in said
        await form(await grace.get(address), "/thumb").send(grace, thumb="good")
        assert (await quality(app.app, 4)).every.total.liked == 2
        back = await form(await grace.get(address), "/thumb").send(grace, thumb="none")
        assert "Grace :" not in text_of(back)
        assert (await quality(app.app, 4)).every.total.judged == 1


async def test_who_may_not_answer_judges_nothing(app: Tended) -> None:
    """A viewer sees what colleagues said and has no form; a form without its session's token is refused."""
    reply = await sent(app)
    address, act = f"/console/threads/{reply['thread_id']}", f"/console/replies/{reply['reply_id']}/thumb"
    async with signed_in(app.app) as grace, signed_in(app.app, "Vic", role="viewer") as vic:
        await form(await grace.get(address), "/thumb").send(grace, thumb="good")
        page = await vic.get(address)
        assert "Grace : good" in text_of(page)
        assert "Was it good?" not in text_of(page)
        token = form(page, "/sign-out").fields["form_token"]
        assert (await vic.post(act, data={"form_token": token, "thumb": "good"})).status_code == 403
        assert (await grace.post(act, data={"form_token": "forged", "thumb": "good"})).status_code == 403
    assert (await quality(app.app, 4)).every.total.judged == 1


@pytest.mark.parametrize(
    "said",
    [
        {"thumb": "bad", "reason": ""},
        {"thumb": "bad", "reason": "<script>alert(1)</script>"},
        {"thumb": "bad", "reason": "a person will answer"},
        {"thumb": "", "reason": ""},
    ],
)
async def test_what_is_no_reason_of_the_list_is_refused(app: Tended, said: dict[str, str]) -> None:
    """Nothing is stored, and nothing that was sent is shown as anything but text."""
    reply = await sent(app)
    async with signed_in(app.app) as grace:
        page = await form(await grace.get(f"/console/threads/{reply['thread_id']}"), "/thumb").send(grace, **said)
        assert page.status_code == 422
        assert "<script>alert" not in page.text
    assert await app.rows("SELECT 1 FROM reply_thumbs") == []


async def test_programs_judge_in_a_persons_name_and_only_what_left(app: Tended) -> None:
    """The API gives, lists and takes back; a reply that is none, or that a person wrote, is judged by nobody."""
    reply = await sent(app)
    address = f"/api/replies/{reply['reply_id']}/thumb"
    async with api(app) as client:
        given = await client.put(address, json={"good": False, "reason": "incomplete", "by": "Grace"})
        assert [(one["by"], one["good"], one["reason"]) for one in given.json()] == [("Grace", False, "incomplete")]
        assert (await client.get(f"{address}s")).json() == given.json()
        assert (await client.put(address, json={"good": True, "reason": "incomplete"})).status_code == 422
        assert (await client.put(address, json={"good": False, "reason": "because"})).status_code == 422
        assert (await client.put(f"/api/replies/{uuid4()}/thumb", json={"good": True})).status_code == 404
        assert (await client.delete(address, params={"by": "Grace"})).json() == []
        async with app.app.database.transaction(app.workspace) as conn:
            await conn.execute("UPDATE turns SET by = 'Ann'")
        assert (await client.put(address, json={"good": True})).status_code == 404
    assert (await quality(app.app, 4)).every.total == Tally(sent=0)
