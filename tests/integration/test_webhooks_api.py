"""Endpoints as people and programs manage them: the API with its scopes, the console's pages, and the document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

import services.web
from deploy.local import Endpoints
from schemas.webhook_payloads import DATA, KINDS
from services.core.clock import utc_now
from services.core.web import make_app
from services.operations.webhooks.endpoints import MOST, Wanted, add_endpoint
from services.web.routes import routes
from services.web.webhooks import documented
from tests.support.alert_receiver import Receiver, receiving
from tests.support.console import form, signed_in, text_of
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
HOSTILE = "<script>alert(1)</script>\u202egnp.exe"
READER, WRITER, DESK = "token-of-a-reader-1", "token-of-a-writer-1", "token-of-the-desk-1"
TOKENS: list[dict[str, Any]] = [
    {"name": "reader", "token": READER, "scopes": ["webhooks:read"]},
    {"name": "writer", "token": WRITER, "scopes": ["webhooks:read", "webhooks:write"]},
    {"name": "desk", "token": DESK, "scopes": ["threads:read", "threads:write", "operations:read"]},
]


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    said = {"web": {"tokens": TOKENS}, "outgoing_webhooks": {"private_hosts": True}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        one.clock.forward(utc_now())
        async with one.at_work():
            yield one


def client(app: Tended, token: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://deployment", headers={"authorization": f"Bearer {token}"}
    )


async def test_a_program_registers_tests_changes_and_removes_an_endpoint(app: Tended, hook: Receiver) -> None:
    """The secret is in one answer alone, and verifies what comes; each request says how the endpoint is then."""
    async with client(app, WRITER) as api:
        made = await api.post(
            "/api/webhooks", json={"url": hook.url, "kinds": ["thread.opened"], "description": "desk"}
        )
        assert made.status_code == 201
        secret, endpoint = made.json()["secret"], made.json()["endpoint"]
        place = f"/api/webhooks/{endpoint['endpoint_id']}"
        hook.answer, hook.content = "200 OK", b"thanks"
        tested = (await api.post(f"{place}/test")).json()
        assert (tested["state"], tested["status"], tested["answer"]) == ("delivered", 200, "thanks")
        assert Webhook(secret).verify(hook.posts[0].body, hook.posts[0].headers)["type"] == "webhook.test"
        again = (await api.post(f"{place}/deliveries/{tested['webhook_id']}/again", json={})).json()
        assert (again["webhook_id"], again["state"]) == (tested["webhook_id"], "delivered")
        assert len({one.headers["webhook-id"] for one in hook.posts}) == 1
        changed = (await api.patch(place, json={"kinds": ["reply.sent", "mail.received"], "paused": True})).json()
        assert (changed["state"], changed["kinds"]) == ("paused", ["mail.received", "reply.sent"])
        assert (await api.patch(place, json={"paused": False})).json()["state"] == "enabled"
        rotated = (await api.post(f"{place}/secret")).json()
        assert rotated["secret"] != secret
        assert rotated["endpoint"]["both_sign_until"] is not None
        listed = [await api.get(path) for path in ("/api/webhooks", place, f"{place}/deliveries")]
        assert not any("whsec_" in one.text for one in listed)
        assert [one["created_by"] for one in listed[0].json()] == ["writer"]
        assert (await api.delete(place)).status_code == 204
        assert (await api.get("/api/webhooks")).json() == []
        for method, path in (("GET", place), ("POST", f"{place}/test"), ("PATCH", place), ("DELETE", place)):
            gone = await api.request(method, path, json={} if method != "GET" else None)
            assert (gone.status_code, gone.json()["error"]) == (404, "endpoint_unknown")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"url": "ftp://example.com/"}, "http"),
        ({"url": "https://no-such-host.invalid/x"}, "no host named"),
        ({"url": "https://user:secret@example.com/"}, "no plain http or https address"),
        ({"url": "https://example.com/", "kinds": ["thread.exploded"]}, "kinds"),
        ({"url": "https://example.com/", "description": "a\u202eb"}, "characters that can be seen"),
        ({"url": "https://example.com/", "description": "x" * 201}, "description"),
        ({"url": "https://example.com/", "secret": "whsec_mine"}, "secret"),
        ({}, "url"),
    ],
)
async def test_what_cannot_be_registered_is_refused_in_words(app: Tended, body: dict[str, Any], words: str) -> None:
    """422, with what is wrong; nothing is stored."""
    async with client(app, WRITER) as api:
        answer = await api.post("/api/webhooks", json=body)
        assert (answer.status_code, words in answer.json()["message"]) == (422, True), answer.json()
        assert (await api.get("/api/webhooks")).json() == []


async def test_scopes_are_asked_for(app: Tended, hook: Receiver) -> None:
    """Reading needs `webhooks:read`, all else `webhooks:write`, and no other scope does."""
    made = await add_endpoint(app.app, Wanted(hook.url), by="grace")
    place = f"/api/webhooks/{made.endpoint.endpoint_id}"
    for token, reads, writes in ((READER, 200, 403), (DESK, 403, 403)):
        async with client(app, token) as api:
            assert (await api.get(place)).status_code == reads
            assert (await api.post(f"{place}/test")).status_code == writes
            assert (await api.post("/api/webhooks", json={"url": hook.url})).status_code == writes
    assert hook.posts == []


async def test_there_are_so_many_endpoints_at_most(app: Tended, hook: Receiver) -> None:
    """One more is refused until one is removed."""
    for _ in range(MOST):
        await add_endpoint(app.app, Wanted(hook.url, ("reply.rated",)), by="grace")
    async with client(app, WRITER) as api:
        assert "which is the most" in (await api.post("/api/webhooks", json={"url": hook.url})).json()["message"]
        first = (await api.get("/api/webhooks")).json()[0]
        await api.delete(f"/api/webhooks/{first['endpoint_id']}")
        assert (await api.post("/api/webhooks", json={"url": hook.url})).status_code == 201


async def test_the_document_names_each_webhook_and_its_data(app: Tended) -> None:
    """OpenAPI's `webhooks` hold every type, with the schema that is also at /api/webhooks/types."""
    document = make_app([routes(app.app)], calls=[documented()]).openapi()
    assert list(document["webhooks"]) == list(KINDS)
    assert services.web.EDGE.calls is not None
    for kind in KINDS:
        schema = document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"]
        said = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        assert said["properties"]["type"]["const"] == kind
        assert said["properties"]["data"]["$ref"].rpartition("/")[2] == DATA[kind].__name__
    async with client(app, READER) as api:
        types = (await api.get("/api/webhooks/types")).json()
    assert [one["kind"] for one in types] == list(KINDS)
    assert types[0]["data"] == DATA["mail.received"].model_json_schema()


async def test_an_admin_does_it_all_in_the_console(app: Tended, hook: Receiver) -> None:
    """Registered with the secret once; tested, paused, resumed, edited, rotated, delivered again, removed."""
    hook.answer, hook.content = "200 OK", HOSTILE.encode()
    async with signed_in(app.app) as admin:
        page = await admin.get("/console/webhooks")
        assert "No endpoint is registered." in text_of(page)
        refused = await form(page, "/webhooks").send(admin, url="https://no-such-host.invalid/", description="desk")
        assert refused.status_code == 422
        assert "there is no host named no-such-host.invalid" in text_of(refused)
        made = await form(page, "/webhooks").send(admin, url=hook.url, description=f"desk {HOSTILE[:20]}")
        secret = text_of(made).partition("whsec_")[2].split()[0]
        (row,) = await app.rows("SELECT endpoint_id, kinds FROM webhook_endpoints")
        assert row["kinds"] == list(KINDS)
        place = f"/console/webhooks/{row['endpoint_id']}"
        assert "whsec_" not in (await admin.get(place)).text
        tested = await form(await admin.get(place), "/test").send(admin)
        assert "Delivered: the endpoint took it." in text_of(tested)
        assert Webhook(f"whsec_{secret}").verify(hook.posts[0].body, hook.posts[0].headers)["type"] == "webhook.test"
        assert "<script" not in tested.text.partition("<main")[2]
        again = await form(tested, "/again").send(admin)
        assert "Delivered: the endpoint took it." in text_of(again)
        paused = await form(again, "/pause").send(admin)
        assert "Paused." in text_of(paused)
        resumed = await form(paused, "/resume").send(admin)
        assert "Resumed." in text_of(resumed)
        changed = await form(resumed, place.removeprefix("/console")).send(admin, description="the desk")
        assert "the desk" in text_of(changed)
        rotated = await form(changed, "/secret").send(admin)
        assert "whsec_" in text_of(rotated)
        assert "the former secret signs, too" in text_of(rotated)
        assert "Removed." in text_of(await form(rotated, "/remove").send(admin))
        assert (await admin.get(place)).status_code == 404


async def test_who_is_no_admin_sees_no_endpoint(app: Tended, hook: Receiver) -> None:
    """An agent neither reads nor acts there, and the menu does not lead there."""
    made = await add_endpoint(app.app, Wanted(hook.url), by="grace")
    async with signed_in(app.app, "Bob", role="agent") as agent:
        assert (await agent.get("/console/webhooks")).status_code == 403
        assert (await agent.get(f"/console/webhooks/{made.endpoint.endpoint_id}")).status_code == 403
        assert "/console/webhooks" not in (await agent.get("/console/inbox")).text
