"""The first run in the console: a guide that goes by what the deployment has, and the test of an inbox on a page."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.outages.mail_servers import clear, note
from services.core.settings import ImapSettings, InboxSettings, SmtpSettings
from services.core.web import make_app
from services.operations.inbox_test import A_MINUTE, HIDDEN
from services.operations.sign_in import make_link
from services.receive_email.check import check_inbox
from services.web.routes import routes, served
from tests.support.console import PLACE, a_user, form, signed_in, text_of
from tests.support.tending import Tended, tending

PASSWORD = "correct-horse-battery-staple"
TOKEN = "a token for tests only"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment into which no mail has come, and in which every reply waits for a person."""
    changes = {"send": {"approval": "review"}, "web": {"api_token": TOKEN}}
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


def with_inbox(app: Tended, imap: ImapSettings | None = None, smtp: SmtpSettings | None = None) -> Tended:
    """The same deployment with other servers of its inbox."""
    box = app.app.settings.inboxes[0].model_copy(update={"imap": imap, "smtp": smtp})
    settings = app.app.settings.model_copy(update={"inboxes": (box,)})
    return replace(app, app=replace(app.app, settings=settings))


def api(app: Tended) -> httpx.AsyncClient:
    """A program with the deployment's token."""
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


@asynccontextmanager
async def smtp_that_repeats() -> AsyncIterator[int]:
    """A server that refuses each login, and says in clear and as it came what it was given: its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            if verb == "EHLO":
                writer.write(b"250-here\r\n250 AUTH PLAIN\r\n")
            elif verb == "AUTH":
                clear = base64.b64decode(rest.rpartition(" ")[2]).decode().replace("\0", " ")
                writer.write(f"535 not {clear} nor {rest}\r\n".encode())
            else:
                writer.write(b"221 bye\r\n")
                writer.close()
                return

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def silent_server() -> AsyncIterator[int]:
    """A server that takes connections and says nothing: its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def steps_of(app: Tended) -> dict[str, bool]:
    """Each step and whether it is done, as programs are told."""
    async with api(app) as client:
        found = (await client.get("/api/first-steps")).json()
    return {one["name"]: one["done"] for one in found["steps"]}


async def test_the_guide_goes_by_what_the_deployment_has_and_ends_with_an_answered_mail(app: Tended) -> None:
    """Each step is done once its mail, draft or reply is there; after the first answered mail the guide is gone."""
    async with signed_in(app.app) as grace:
        begun = text_of(await grace.get("/console/inbox"))
        assert "1 of 6 steps is done." in begun
        assert app.app.settings.inboxes[0].address in begun
        assert "Read the draft that waits" not in begun
        assert await steps_of(app) == {"inbox": True} | dict.fromkeys(
            ("model", "knowledge", "mail", "approval", "reply"), False
        )
        await app.write("What does the Team plan cost?")
        assert (await steps_of(app))["mail"]
        assert not (await steps_of(app))["approval"]
        page = await grace.get("/console/inbox")
        assert "Read the draft that waits" in text_of(page)
        assert 'href="/console/drafts/next"' in page.text
        draft = await grace.get("/console/drafts/next")
        async with app.at_work():
            await form(draft, "/approve").send(grace)
        await app.settle()
        after = await grace.get("/console/inbox?view=all")
        assert "To your first answered mail" not in text_of(after)
        assert "A mail was answered" in text_of(await grace.get("/console/first-steps"))
    assert {name for name, done in (await steps_of(app)).items() if not done} == {"model", "knowledge"}


async def test_a_mail_server_that_is_away_opens_the_step_of_the_inbox_again(app: Tended) -> None:
    """An inbox whose server refuses is no connected one, and the guide says what is wrong."""
    name = app.app.settings.inboxes[0].name
    await note(app.app, "smtp", name, "535 not let in <script>alert(1)</script>")
    async with signed_in(app.app) as grace:
        page = await grace.get("/console/first-steps")
        assert "0 of 6 steps are done." in text_of(page)
        assert "replies cannot be sent" in text_of(page)
        assert "<script>alert(1)" not in page.text
        await clear(app.app, "smtp", name)
        assert "1 of 6 steps is done." in text_of(await grace.get("/console/first-steps"))


async def test_who_puts_the_guide_away_sees_it_no_more_and_others_do(app: Tended) -> None:
    """It is each user's own choice, a viewer's too, and can be taken back."""
    async with signed_in(app.app, "Vic", role="viewer") as vic, signed_in(app.app) as grace:
        page = await vic.get("/console/inbox")
        gone = await form(page, "/first-steps").send(vic, act="close")
        assert "The guide is put away" in text_of(gone)
        assert "To your first answered mail" not in text_of(gone)
        assert "To your first answered mail" in text_of(await grace.get("/console/inbox"))
        back = await form(await vic.get("/console/first-steps"), "/first-steps").send(vic, act="open")
        assert "To your first answered mail" in text_of(back)
        assert (await vic.post("/console/first-steps", data={"act": "close"})).status_code == 403


async def test_replies_that_leave_by_themselves_are_no_draft_to_approve(app: Tended) -> None:
    """Where nothing waits for a person the guide says how it would; an inbox's own choice goes before."""
    settings = app.app.settings
    auto = settings.model_copy(update={"send": settings.send.model_copy(update={"approval": "auto"})})
    free = replace(app.app, settings=auto)
    async with signed_in(free, role="agent") as grace:
        said = text_of(await grace.get("/console/first-steps"))
    assert 'approval = "review"' in said
    assert "change it here" not in said
    own = settings.inboxes[0].reply.model_copy(update={"approval": "human_only"})
    box = settings.inboxes[0].model_copy(update={"reply": own})
    async with signed_in(replace(free, settings=auto.model_copy(update={"inboxes": (box,)})), role="agent") as grace:
        assert "Nothing leaves before you approve it" in text_of(await grace.get("/console/first-steps"))


async def test_an_inbox_is_tested_from_the_settings(app: Tended) -> None:
    """Each step with what was found; what failed with what to do; the other server is asked all the same."""
    settings = app.app.settings
    closed = ImapSettings(host="127.0.0.1", port=free_port(), username="ann")
    async with signed_in(app.app) as grace:
        well = await form(await grace.get("/console/settings"), "/test").send(grace)
        assert "Every step went well" in text_of(well)
        assert f"{settings.smtp.host} takes mail" in text_of(well)
    async with signed_in(with_inbox(app, closed).app) as grace:
        page = await form(await grace.get("/console/settings"), "/test").send(grace)
        assert page.status_code == 200
        said = text_of(page)
        assert "1 step failed" in said
        assert f"no connection to 127.0.0.1 port {closed.port}" in said
        assert "no firewall is in between" in said
        assert "Greeting, encryption and login of SMTP" in said
        grace.headers["accept-language"] = "de"
        german = text_of(await form(await grace.get("/console/settings"), "/test").send(grace))
        assert f"keine Verbindung zu 127.0.0.1 Port {closed.port}" in german
        assert "keine Firewall dazwischen" in german
    async with api(with_inbox(app, closed)) as client:
        told = (await client.post(f"/api/inboxes/{settings.inboxes[0].name}/test")).json()
    assert told["ok"] is False
    assert [(one["step"], one["ok"]) for one in told["findings"]][:2] == [
        ("imap dns", True),
        ("imap connection", False),
    ]


async def test_tests_of_an_inbox_were_counted_by_pages_and_by_the_api_apart(app: Tended) -> None:
    """Four a minute, whoever asks by what: a provider locks out who fails to log in too often."""
    closed = with_inbox(app, ImapSettings(host="127.0.0.1", port=free_port(), username="ann")).app
    name = closed.settings.inboxes[0].name
    transport = httpx.ASGITransport(make_app([served(closed)]), raise_app_exceptions=False)
    link = await make_link(closed, await a_user(closed))
    async with httpx.AsyncClient(transport=transport, base_url=PLACE, follow_redirects=True) as grace:
        await grace.post("/console/sign-in/link", data={"token": link})
        page = await form(await grace.get("/console/settings"), "/test").send(grace)
        headers = {"authorization": f"Bearer {TOKEN}"}
        told = [(await grace.post(f"/api/inboxes/{name}/test", headers=headers)).status_code for _ in range(4)]
        again = await form(await grace.get("/console/settings"), "/test").send(grace)
    assert (page.status_code, told, again.status_code) == (200, [200, 200, 200, 429], 429)


async def test_no_finding_shows_a_password_that_a_server_repeats(app: Tended) -> None:
    """In clear, or as SASL encodes it: what the server says besides is shown."""
    async with smtp_that_repeats() as port:
        smtp = SmtpSettings.model_validate(
            {"host": "127.0.0.1", "port": port, "tls": "none", "username": "ann", "password": PASSWORD}
        )
        async with signed_in(with_inbox(app, smtp=smtp).app) as grace:
            page = await form(await grace.get("/console/settings"), "/test").send(grace)
    assert f"not ann {HIDDEN} nor PLAIN {HIDDEN}" in " ".join(text_of(page).split())
    assert PASSWORD not in page.text
    assert base64.b64encode(PASSWORD.encode()).decode() not in page.text


async def test_a_server_that_says_nothing_holds_no_test_for_ever() -> None:
    """The whole test ends within its time, and says at which server it stood."""
    async with silent_server() as port:
        smtp = SmtpSettings.model_validate({"host": "127.0.0.1", "port": port, "tls": "none"})
        box = InboxSettings(name="support", address="support@shop.example", imap=None)
        findings = await check_inbox(box, smtp, within_s=1.0)
    assert [(one.step, one.ok) for one in findings][-2:] == [("smtp connection", True), ("time", False)]
    assert findings[-1].remedy


async def test_an_inbox_is_tested_by_admins_alone_and_not_all_the_time(app: Tended) -> None:
    """Others have no button and are refused; an inbox that is not in the settings is none; the fifth in a minute waits."""
    name = app.app.settings.inboxes[0].name
    async with signed_in(app.app, "Bob", role="agent") as bob:
        page = await bob.get("/console/settings")
        assert "Test it" not in text_of(page)
        token = form(page, "/sign-out").fields["form_token"]
        refused = await bob.post(f"/console/settings/inboxes/{name}/test", data={"form_token": token})
        assert refused.status_code == 403
    async with signed_in(app.app) as grace:
        button = form(await grace.get("/console/settings"), "/test")
        assert (await grace.post(button.action, data={"form_token": "forged"})).status_code == 403
        nobody = await grace.post("/console/settings/inboxes/no%22such/test", data=button.fields)
        assert (nobody.status_code, "there is no inbox named" in text_of(nobody)) == (404, True)
        assert [(await button.send(grace)).status_code for _ in range(A_MINUTE + 1)] == [200] * A_MINUTE + [429]
    async with api(app) as client:
        assert (await client.post("/api/inboxes/nobody/test")).status_code == 404
