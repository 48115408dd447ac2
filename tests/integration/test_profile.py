"""The profile in a whole deployment: people keep it, the agent reads it first and cannot write it."""

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
from tests.support.remembering import ADA, fact
from tests.support.tending import Tended, tending

INBOXES = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]


async def answered(one: Tended) -> None:
    """A mail that was answered."""
    await one.write("We are on the Team plan.")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    said: dict[str, Any] = {"inboxes": INBOXES, "web": {"api_token": "t"}}
    async with after(answered, tending, stack, template_database, topic_prefix, tmp_path, **said) as one:
        yield one


def client(app: Tended) -> httpx.AsyncClient:
    web_app = make_app([routes(app.app)])
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(web_app, raise_app_exceptions=False),
        base_url="http://deployment",
        headers={"authorization": "Bearer t"},
    )


async def newest_layers(app: Tended) -> dict[str, Any]:
    (row,) = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    return {one["name"]: one for one in row["data"]["layers"]}


async def test_the_agent_reads_what_people_keep_before_what_it_learned(app: Tended) -> None:
    """Set over REST, the field stands in the next context, before the participant's layer; removed, it is gone."""
    where = f"/api/participants/{ADA}/profile"
    async with app.at_work(), client(app) as api:
        command = {"fields": {"account_manager": "Grace", "tier": "gold"}, "by": "grace", "reason": "new contract"}
        found = (await api.patch(where, json=command)).json()
        await api.patch(where, json={"remove": ["tier"], "by": "grace"})
        left = (await api.get(where)).json()
    assert [(one["field"], one["value"], one["by"], one["reason"]) for one in found] == [
        ("account_manager", "Grace", "grace", "new contract"),
        ("tier", "gold", "grace", "new contract"),
    ]
    assert [one["field"] for one in left] == ["account_manager"]
    assert all(one["cause"] for one in left)
    await app.write("Who looks after us?")
    layers = await newest_layers(app)
    names = list(layers)
    assert "- account_manager: Grace" in layers["profile"]["text"]
    assert "tier" not in layers["profile"]["text"]
    assert names.index("guidance") < names.index("profile") < names.index("participant")


async def test_no_mail_and_no_model_writes_the_profile(app: Tended) -> None:
    """A fact under a profile field's name is a fact: the profile stands as people left it."""
    async with app.at_work(), client(app) as api:
        await api.patch(f"/api/participants/{ADA}/profile", json={"fields": {"plan": "Enterprise"}, "by": "grace"})
        (mail,) = await app.rows("SELECT * FROM mails")
        await app.learn(mail, fact("plan", "Team", "on the Team plan"))
        left = (await api.get(f"/api/participants/{ADA}/profile")).json()
    assert [(one["field"], one["value"]) for one in left] == [("plan", "Enterprise")]


async def test_who_is_not_proved_sees_nobodys_profile(app: Tended) -> None:
    """A forged mail in Ada's name gets an empty layer."""
    async with app.at_work(), client(app) as api:
        await api.patch(f"/api/participants/{ADA}/profile", json={"fields": {"pin": "none of yours"}, "by": "grace"})
    await app.write("What do you keep of me?", inbox=1)
    assert (await newest_layers(app))["profile"]["text"] == ""


async def test_hostile_fields_are_refused(app: Tended) -> None:
    """Names and values that could break a line, a table or a prompt are refused in words, and nothing is kept."""
    where = f"/api/participants/{ADA}/profile"
    commands: list[dict[str, Any]] = [
        {},
        {"fields": {}},
        {"fields": {"Two Words": "x"}},
        {"fields": {"a": "line\nbreak"}},
        {"fields": {"a": "nul\u0000"}},
        {"fields": {"a": "x" * 301}},
        {"fields": {"a": ""}},
        {"fields": {"a": {"nested": 1}}},
        {"fields": {f"f{number}": "x" for number in range(41)}},
        {"remove": ["'; DROP TABLE participants; --"]},
        {"fields": {"a": "x"}, "unknown": 1},
    ]
    async with client(app) as api:
        for command in commands:
            answer = await api.patch(where, json=command)
            assert (answer.status_code, answer.json()["error"]) == (422, "invalid"), command
        assert (
            await api.patch("/api/participants/nobody@x.example/profile", json={"remove": ["a"]})
        ).status_code == 404
        assert (await api.get(where)).json() == []
