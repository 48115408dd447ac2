"""A note that names a colleague: they find its thread, and are told by mail, they alone."""

from __future__ import annotations

import email
from collections.abc import AsyncIterator
from email import policy
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.users import add_user, remove_user
from services.web.routes import routes
from tests.support.console import form, signed_in, text_of
from tests.support.smtp_server import SmtpServer
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
OPS, LINUS = "ops@ourcompany.example", "linus@ourcompany.example"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer
) -> AsyncIterator[Tended]:
    """A deployment whose replies wait, with an address of the operator's that alerts go to."""
    changes: dict[str, Any] = {
        "send": {"approval": "review"},
        "alerts": {"to": [{"mail": OPS, "about": ["escalated", "system"]}]},
        "smtp": {"host": "127.0.0.1", "port": server.port, "timeout_s": 20},
        "web": {"api_token": TOKEN, "console_url": "https://desk.ourcompany.example/"},
    }
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


@pytest.fixture
async def thread(app: Tended) -> UUID:
    return await app.write("The export stops, SECRETWORD.", subject=f"Export {HOSTILE}")


@pytest.fixture
async def linus(app: Tended) -> Any:
    return await add_user(app.app, "Linus Berg", "agent", by="", email=LINUS, joined=True)


def told(server: SmtpServer) -> list[Any]:
    return [email.message_from_bytes(one.raw, policy=policy.default) for one in server.accepted]


def api(app: Tended) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def note(app: Tended, client: httpx.AsyncClient, thread: UUID, text: str) -> httpx.Response:
    page = await client.get(f"/console/threads/{thread}")
    async with app.at_work():
        return await form(page, f"/threads/{thread}/notes").send(client, text=text)


async def test_who_is_named_in_a_note_finds_the_thread_and_gets_a_mail(
    app: Tended, thread: UUID, linus: Any, server: SmtpServer
) -> None:
    """The view is theirs alone and ends with the thread; the mail goes to them alone and holds no word of the note."""
    async with signed_in(app.app) as grace, signed_in(app.app, "Linus Berg") as berg:
        assert "No note of an open thread asks you" in text_of(await berg.get("/console/inbox?view=mentioned"))
        page = await note(app, grace, thread, f"@linus, is this NOTEWORD yours? @nobody {HOSTILE}")
        assert "asks Linus Berg to look" in text_of(page)
        assert "@nobody" in text_of(page)
        assert HOSTILE not in page.text
        view = await berg.get("/console/inbox?view=mentioned")
        assert "Export" in text_of(view)
        assert HOSTILE not in view.text
        assert "Export" not in text_of(await grace.get("/console/inbox?view=mentioned"))
        await app.wait(seconds=30)
        (mail,) = [one for one in told(server) if one["To"] == LINUS]
        said = str(mail.get_body(("plain",)).get_content())
        assert "a colleague asks: Grace asks Linus Berg to look, in a note" in said
        assert f"https://desk.ourcompany.example/console/threads/{thread}" in said
        assert "NOTEWORD" not in said
        assert "SECRETWORD" not in said
        assert {one.recipient for one in server.accepted} == {LINUS}
        page = await grace.get(f"/console/threads/{thread}")
        async with app.at_work():
            await form(page, f"/threads/{thread}/move").send(grace, to="resolved")
        assert "Export" not in text_of(await berg.get("/console/inbox?view=mentioned"))
    await app.wait(days=1)
    assert len([one for one in told(server) if one["To"] == LINUS]) == 1


async def test_a_note_over_the_api_names_colleagues_too(app: Tended, thread: UUID, linus: Any) -> None:
    """The thread says whom, the inbox finds it by that name; of nobody else."""
    async with api(app) as client:
        said = {"text": "@Linus Berg: yours?", "by": "Grace"}
        async with app.at_work():
            answer = await client.post(f"/api/threads/{thread}/notes", json=said)
        assert answer.status_code == 201
        whole = (await client.get(f"/api/threads/{thread}")).json()
        assert whole["notes"][-1]["mentions"] == ["Linus Berg"]
        asked = {"view": "mentioned", "assignee": "Linus Berg"}
        assert [one["thread_id"] for one in (await client.get("/api/inbox", params=asked)).json()] == [str(thread)]
        asked["assignee"] = "Grace"
        assert (await client.get("/api/inbox", params=asked)).json() == []


async def test_who_left_or_has_no_address_gets_no_mail(
    app: Tended, thread: UUID, linus: Any, server: SmtpServer
) -> None:
    """A colleague without an address finds the thread in the view; one who was removed since is written to no more."""
    await add_user(app.app, "Noa", "viewer", by="", joined=True)
    async with signed_in(app.app) as grace:
        await note(app, grace, thread, "@noa @linus")
        await remove_user(app.app, linus.user_id)
        assert (
            "asks Linus"
            not in text_of(await note(app, grace, thread, "@linus berg, are you still there?")).split("Noa")[-1]
        )
        await app.wait(minutes=30)
    async with signed_in(app.app, "Noa", role="viewer") as noa:
        assert "Export" in text_of(await noa.get("/console/inbox?view=mentioned"))
    assert server.accepted == []


async def test_an_address_of_an_inbox_is_never_told(app: Tended, thread: UUID, server: SmtpServer) -> None:
    """A user whose address is one that the agent answers for would have the alert come in as a mail."""
    await add_user(app.app, "Desk", "agent", by="", email="support@ourcompany.example", joined=True)
    async with signed_in(app.app) as grace:
        await note(app, grace, thread, "@desk")
    await app.wait(minutes=30)
    assert server.accepted == []
