"""Users of the console: the first one, invitations, roles, second factor, tokens, the record, and being removed."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from fastapi.routing import APIRoute
from starlette.types import Message, Receive, Scope, Send

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations import users
from services.operations.sign_in import LinkUsed, begin, link_of, make_link, session_of, sign_out
from services.operations.users import UserRefused
from services.operations.users.second_factor import _bytes, new_key, set_key, takes_code
from services.operations.users.tokens import bearer, make_token
from services.web.console import sign_in
from services.web.console.live import changes_after
from services.web.console.routes import PARTS, pages
from services.web.console.site import Site
from services.web.routes import routes
from tests.support.console import PLACE, a_user, browser, form, signed_in, text_of
from tests.support.tending import Tended, tending

PASSWORD = "correct horse battery"
EMAIL = "grace@harborline.example"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person, driven by hand."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as one:
        yield one


async def with_password(app: Tended, name: str = "Grace", email: str = EMAIL) -> users.User:
    """A user who signs in by a password."""
    user = await users.add_user(app.app, name, "admin", by="", email=email, joined=True)
    await users.set_password(app.app, user.user_id, PASSWORD)
    return await users.user_of(app.app, user.user_id)


async def test_the_first_link_makes_the_first_admin_and_no_second(app: Tended) -> None:
    """A link without a user counts for nothing once there is a user; what is wrong with the form uses none up."""
    token, second = await make_link(app.app), await make_link(app.app)
    given = {"token": token, "name": "Grace", "email": EMAIL, "password": PASSWORD, "again": PASSWORD}
    async with browser(app.app) as client, browser(app.app) as other:
        assert "correspondent console" in text_of(await client.get("/console/inbox"))
        for wrong in (
            {"password": "short", "again": "short"},
            {"again": "another one!"},
            {"email": "x"},
            {"name": " "},
        ):
            assert (await client.post("/console/sign-in/link", data=given | wrong)).status_code == 422
        assert (await client.post("/console/sign-in/link", data=given)).status_code == 200
        assert (await client.get("/console/users")).status_code == 200
        assert (await other.post("/console/sign-in/link", data=given | {"token": second})).status_code == 401
    (row,) = await app.rows("SELECT name, role, password_hash FROM users")
    assert (row["name"], row["role"]) == ("Grace", "admin")
    assert row["password_hash"].startswith("$argon2id$")


async def test_a_password_signs_in_and_a_wrong_one_says_nothing_of_who_there_is(app: Tended) -> None:
    """The same words for an unknown address and a wrong password; after six tries in a minute the account waits."""
    await with_password(app)
    async with browser(app.app) as client:
        wrong = await client.post("/console/sign-in", data={"email": EMAIL, "password": "guess"})
        unknown = await client.post("/console/sign-in", data={"email": "nobody@x.example", "password": "guess"})
        assert (wrong.status_code, unknown.status_code) == (401, 401)
        assert text_of(wrong) == text_of(unknown)
        assert (
            await client.post("/console/sign-in", data={"email": EMAIL.upper(), "password": PASSWORD})
        ).status_code == 200
        said = [
            (await client.post("/console/sign-in", data={"email": EMAIL, "password": "x"})).status_code
            for _ in range(7)
        ]
        assert said[-1] == 429
        late = await client.post("/console/sign-in", data={"email": EMAIL, "password": PASSWORD})
        assert late.status_code == 429
    acts = [row["act"] for row in await app.rows("SELECT act FROM console_audit ORDER BY at, audit_id")]
    assert "signed in" in acts
    assert "sign-in refused" in acts


async def test_strangers_who_guessed_at_an_account_locked_its_owner_out(app: Tended) -> None:
    """A browser in which somebody signed in before has tries of its own, for that account alone; it lets nobody in."""
    await with_password(app)
    other = "ann@harborline.example"
    await with_password(app, "Ann", other)
    good = {"email": EMAIL, "password": PASSWORD}
    served = httpx.ASGITransport(make_app([pages(app.app)]))

    def at_it() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=served, base_url=PLACE, follow_redirects=True)

    async with at_it() as own, at_it() as stranger:
        assert (await own.post("/console/sign-in", data=good)).status_code == 200
        own.cookies.delete("correspondent")
        assert (await own.get("/console/inbox")).status_code == 401
        guesses = [await stranger.post("/console/sign-in", data=good | {"password": "x"}) for _ in range(7)]
        assert guesses[-1].status_code == 429
        stranger.cookies.set("correspondent-known", own.cookies["correspondent-known"].partition(".")[0] + ".0")
        assert (await stranger.post("/console/sign-in", data=good)).status_code == 429
        for number in range(100):  # until their network has no tries left
            given = {"email": f"nobody{number}@x.example", "password": "x"}
            if (await stranger.post("/console/sign-in", data=given)).status_code == 429:
                break
        assert (await own.post("/console/sign-in", data=good | {"email": other})).status_code == 429
        assert (await own.post("/console/sign-in", data=good)).status_code == 200
        again = [await own.post("/console/sign-in", data=good | {"password": "x"}) for _ in range(6)]
        assert again[-1].status_code == 429


async def test_a_refusal_took_longer_for_an_address_that_is_a_users(
    app: Tended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is recorded of it is written once the answer has left, so that its time does not tell who is a user."""
    await with_password(app)
    order: list[str] = []
    record = sign_in.note

    async def noted(*args: object) -> None:
        order.append("recorded")
        await record(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(sign_in, "note", noted)
    served = make_app([pages(app.app)])

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            order.append(message["type"])
            await send(message)

        await served(scope, receive, sending)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(watched), base_url=PLACE) as client:
        answer = await client.post("/console/sign-in", data={"email": EMAIL, "password": "guess"})
    assert answer.status_code == 401
    assert order == ["http.response.start", "http.response.body", "recorded"]


async def test_a_code_counts_once(app: Tended) -> None:
    """With a second factor a password alone signs nobody in; a code that was used, or an old one, does not either."""
    user, key = await with_password(app), new_key()
    await set_key(app.app, user, key)
    shown = TOTP(_bytes(key), 6, SHA1(), 30)
    now = app.clock().timestamp()
    async with browser(app.app) as client:
        given = {"email": EMAIL, "password": PASSWORD}
        assert (await client.post("/console/sign-in", data=given)).status_code == 401
        old = shown.generate(int(now) - 90).decode()
        assert (await client.post("/console/sign-in", data=given | {"code": old})).status_code == 401
        code = shown.generate(int(now)).decode()
        assert (
            await client.post("/console/sign-in", data=given | {"code": f"{code[:3]} {code[3:]}"})
        ).status_code == 200
        assert not await takes_code(app.app, user.user_id, code)
    (row,) = await app.rows("SELECT totp_secret FROM users")
    assert _bytes(key) not in bytes(row["totp_secret"])


@pytest.mark.parametrize("size", [0, 1, 10, 19, 21])
async def test_a_key_of_no_length_turned_the_second_factor_off_and_said_that_it_was_on(app: Tended, size: int) -> None:
    """A form chooses no key that is shorter than ours, whatever code belongs to it."""
    key = base64.b32encode(bytes(size)).decode()
    code = TOTP(bytes(size), 6, SHA1(), 30, enforce_key_length=False).generate(int(app.clock().timestamp())).decode()
    user = await a_user(app.app)
    await set_key(app.app, user, new_key())
    async with signed_in(app.app) as client:
        token = form(await client.get("/console/me"), "/sign-out").fields["form_token"]
        sent = await client.post("/console/me/factor", data={"form_token": token, "key": key, "code": code})
        assert sent.status_code == 422
    (row,) = await app.rows("SELECT totp_secret IS NOT NULL AS has FROM users WHERE removed_at IS NULL")
    assert row["has"]


async def test_an_invitation_is_mailed_and_joins_under_the_name_of_the_admin(app: Tended, stack: Endpoints) -> None:
    """The mail's link works once; hostile words in the name are text on every page and in the mail."""
    async with signed_in(app.app, "Ann") as admin, browser(app.app) as guest:
        page = await admin.get("/console/users")
        address = f"bob.{app.workspace}@harborline.example"
        sent = await form(page, "/users").send(admin, name=f"Bob {HOSTILE}", email=address, role="viewer")
        assert HOSTILE not in sent.text
        assert "Invited. The mail went to" in text_of(sent)
        link = re.findall(r"http://localhost/console/sign-in/[\w-]+", mail_to(stack, address))[0]
        page = await guest.get(link)
        assert "Ann invited you" in text_of(page)
        await form(page, "/sign-in/link").send(guest, password=PASSWORD, again=PASSWORD)
        inbox = await guest.get("/console/inbox")
        assert inbox.status_code == 200
        assert HOSTILE not in inbox.text
        with pytest.raises(LinkUsed):
            await link_of(app.app, link.rpartition("/")[2])


async def test_an_invitation_that_cannot_be_mailed_is_handed_over(app: Tended) -> None:
    """The admin sees why no server took it, and the link itself."""
    settings = app.app.settings
    nowhere = settings.model_copy(update={"smtp": settings.smtp.model_copy(update={"port": 1, "timeout_s": 1})})
    async with signed_in(replace(app.app, settings=nowhere), "Ann") as admin:
        sent = await form(await admin.get("/console/users"), "/users").send(admin, name="Bob", email="bob@h.example")
        assert "could not be mailed" in text_of(sent)
        link = next(word for word in text_of(sent).split() if "/console/sign-in/" in word)
        assert (await link_of(app.app, link.rpartition("/")[2])).user


def mail_to(stack: Endpoints, address: str) -> str:
    """The text of the one mail that went there."""
    mails = [message_from_bytes(path.read_bytes(), policy=default) for path in stack.outbox.glob("*/*")]
    (mail,) = [one for one in mails if one["To"] == address]
    text = mail.get_body(("plain",))
    assert text is not None
    return str(text.get_content())


@pytest.mark.parametrize(
    ("name", "email"), [("GRACE", ""), ("\uff27race", ""), ("Gra\u202ece", ""), ("", ""), ("Eve", EMAIL)]
)
async def test_no_second_person_gets_a_name_that_looks_the_same(app: Tended, name: str, email: str) -> None:
    """Nor one that hides what it is, nor the address of somebody else; not even when the first one has left."""
    user = await with_password(app)
    await a_user(app.app, "Ann")
    with pytest.raises(UserRefused):
        await users.add_user(app.app, name, "agent", by="Ann", email=email)
    await users.remove_user(app.app, user.user_id)
    if not email:
        with pytest.raises(UserRefused):
            await users.add_user(app.app, name, "agent", by="Ann")


async def test_a_viewer_can_send_no_form_but_their_own(app: Tended) -> None:
    """Every act of the console asks for a role, and a viewer's are those about themselves."""
    await app.write("Hello?")
    (thread,) = await app.rows("SELECT thread_id FROM threads")
    found = [route for part in PARTS for route in part(Site(app.app)).routes if isinstance(route, APIRoute)]
    acts = [one.path for one in found if "POST" in one.methods and not one.path.startswith("/console/sign-in")]
    async with signed_in(app.app, "Vic", role="viewer") as viewer, signed_in(app.app, "Ann"):
        page = await viewer.get(f"/console/threads/{thread['thread_id']}")
        assert page.status_code == 200
        assert "/notes" not in page.text.partition("<main")[2]
        token = form(page, "/sign-out").fields["form_token"]
        for path in acts:
            if path.startswith(("/console/me", "/console/inbox/views", "/console/first-steps", "/console/sign-out")):
                continue
            filled = path.replace("{", "").replace("}", "")
            assert (await viewer.post(filled, data={"form_token": token})).status_code == 403, path
        assert (await viewer.get("/console/users")).status_code == 403
        assert (await viewer.get("/console/users/audit")).status_code == 403


async def test_somebody_removed_while_working_is_out_at_the_next_request(app: Tended) -> None:
    """Pages, forms, the stream and their API tokens: nothing is theirs any more, and their name stays."""
    await app.write("Hello?")
    bob = await a_user(app.app, "Bob", "agent")
    token = await make_token(app.app, bob, "a script", ["all"])
    session = await begin(app.app, bob)
    async with signed_in(app.app, "Bob", role="agent") as client, signed_in(app.app, "Ann") as admin:
        page = await client.get("/console/inbox")
        await form(await admin.get("/console/users"), f"{bob.user_id}/remove").send(admin)
        assert (await client.get("/console/inbox")).status_code == 401
        assert (await form(page, "/sign-out").send(client)).status_code == 401
    assert await bearer(app.app, token) is None

    async def admitted() -> bool:
        return await session_of(app.app, session) is not None

    said = [line async for line in changes_after(app.app, 10**6, asyncio.Event(), admitted)]
    assert said == ["retry: 2000\n\n"]
    (row,) = await app.rows("SELECT name, email, password_hash FROM users WHERE removed_at IS NOT NULL")
    assert tuple(row.values()) == ("Bob", "", "")


@pytest.mark.parametrize("gone", ["removed", "signed out"])
async def test_a_stream_went_on_telling_a_busy_deployment_to_somebody_who_was_out(app: Tended, gone: str) -> None:
    """Where something changes at every look there is no quiet one at which it was asked whether they may still look."""
    thread = await app.write("Hello?")
    bob = await a_user(app.app, "Bob", "agent")
    await a_user(app.app, "Ann")
    token = await begin(app.app, bob)

    async def admitted() -> bool:
        return await session_of(app.app, token) is not None

    said: list[str] = []
    stream = changes_after(app.app, await app.newest(), asyncio.Event(), admitted)
    async with asyncio.timeout(60):
        async for line in stream:
            said.append(line)
            if 'data: {"' in line:
                session = await session_of(app.app, token)
                assert session is not None, said
                await (users.remove_user(app.app, bob.user_id) if gone == "removed" else sign_out(app.app, session))
            await app.write(f"Once more: {len(said)}", after="<m1@acme.example>")
    assert str(thread) in "".join(said)
    assert len([line for line in said if 'data: {"' in line]) == 1


async def test_the_last_admin_stays(app: Tended) -> None:
    """Nobody can remove or demote the only admin, themselves included."""
    ann = await a_user(app.app, "Ann")
    async with signed_in(app.app, "Ann") as admin:
        page = await admin.get("/console/users")
        assert (await form(page, "/remove").send(admin)).status_code == 409
        assert (await form(page, "/role").send(admin, role="viewer")).status_code == 409
    await users.add_user(app.app, "Invited", "admin", by="Ann")  # not here yet, so not an admin who could help
    with pytest.raises(UserRefused):
        await users.remove_user(app.app, ann.user_id)


async def test_what_is_done_is_recorded_under_the_name_of_who_is_signed_in(app: Tended) -> None:
    """Whatever a form says; refused acts too, and no content. Entries go after their time."""
    await app.write("Hello?")
    (thread,) = await app.rows("SELECT thread_id FROM threads")
    async with signed_in(app.app, "Ann") as admin, app.at_work():
        page = await admin.get(f"/console/threads/{thread['thread_id']}")
        await form(page, "/notes").send(admin, text="a secret word", by="Mallory")
        listed = text_of(await admin.get("/console/users/audit"))
        assert "/threads/{thread_id}/notes" in listed
        rows = await app.rows("SELECT * FROM console_audit WHERE act LIKE '%%notes'")
        assert [row["by"] for row in rows] == ["Ann"]
        assert "secret" not in str(rows)
        (event,) = await app.rows("SELECT data FROM events WHERE type = 'thread.note_added.v1'")
        assert event["data"]["by"] == "Ann"
    app.clock.forward(app.clock() + timedelta(days=401))
    async with signed_in(app.app, "Ann"):
        assert [row["act"] for row in await app.rows("SELECT act FROM console_audit")] == ["signed in"]


async def test_a_users_token_may_do_what_its_user_may(app: Tended) -> None:
    """It is named after them, a viewer's reads alone whatever its scopes, and a wrong one is nobody's."""
    viewer, agent = await a_user(app.app, "Vic", "viewer"), await a_user(app.app, "Bob", "agent")
    theirs, his = (
        await make_token(app.app, viewer, "x", ["all"]),
        await make_token(app.app, agent, "x", ["threads:read"]),
    )
    await app.write("Hello?")
    (thread,) = await app.rows("SELECT thread_id FROM threads")
    transport = httpx.ASGITransport(make_app([routes(app.app)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as api:
        for token, path, status in (
            (theirs, "/api/threads", 200),
            (theirs, f"/api/threads/{thread['thread_id']}/notes", 403),
            (his, "/api/threads", 200),
            (his, "/api/drafts", 403),
            (his + "0", "/api/threads", 401),
        ):
            verb = "POST" if path.endswith("notes") else "GET"
            body = {"text": "x"} if verb == "POST" else None
            answer = await api.request(verb, path, headers={"Authorization": f"Bearer {token}"}, json=body)
            assert answer.status_code == status, (token, path, answer.text)


async def test_a_stolen_session_made_a_token_and_switched_the_second_factor_off(app: Tended) -> None:
    """What outlasts a session, or keeps its user out, wants the password: tokens, a second factor on and off. Guesses are few."""
    user, key = await with_password(app), new_key()
    code = TOTP(_bytes(key), 6, SHA1(), 30).generate(int(app.clock().timestamp())).decode()
    await set_key(app.app, user, new_key())
    for sent in (
        {"": "/me/tokens", "label": "a script", "scope threads:read": "1"},
        {"": "/me/factor-off"},
        {"": "/me/factor", "key": key, "code": code},
    ):
        async with signed_in(app.app) as client:
            page = await client.get("/console/me")
            mine = {"form_token": form(page, "/sign-out").fields["form_token"], **sent}
            for wrong in ("", "guess"):
                refused = await client.post(f"/console{sent['']}", data=mine | {"now": wrong})
                assert (refused.status_code, "not your password" in text_of(refused)) == (422, True)
            (row,) = await app.rows("SELECT totp_secret FROM users")
            assert (await client.post(f"/console{sent['']}", data=mine | {"now": PASSWORD})).status_code == 200
            (changed,) = await app.rows("SELECT totp_secret FROM users")
            assert (row == changed) == (sent[""] == "/me/tokens")
            tries = [await client.post(f"/console{sent['']}", data=mine | {"now": "guess"}) for _ in range(4)]
            assert tries[-1].status_code == 429
    assert [row["label"] for row in await app.rows("SELECT label FROM user_tokens")] == ["a script"]


async def test_a_new_password_ends_other_sessions(app: Tended) -> None:
    """Who changes it stays signed in here; a wrong one now, or two that differ, change nothing."""
    user = await with_password(app)
    async with signed_in(app.app) as client, signed_in(app.app) as elsewhere:
        page = await client.get("/console/me")
        for wrong in ({"now": "guess", "again": "another password"}, {"now": PASSWORD, "again": "different!!!!"}):
            sent = await form(page, "/me/password").send(client, **({"password": "another password"} | wrong))
            assert sent.status_code == 422
        changed = {"now": PASSWORD, "password": "another password", "again": "another password"}
        assert (await form(page, "/me/password").send(client, **changed)).status_code == 200
        assert (await client.get("/console/inbox")).status_code == 200
        assert (await elsewhere.get("/console/inbox")).status_code == 401
    assert await users.with_password(app.app, user.email, "another password")
    assert await users.with_password(app.app, user.email, PASSWORD) is None
