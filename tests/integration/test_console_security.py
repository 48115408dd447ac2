"""The console against those who are not signed in, forms that are not its own, and text that wants to be more than text."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html

from deploy.local import Endpoints
from services.core.db import Database
from services.core.printable import printable
from services.operations.sign_in import LINK_LASTS, SESSION_LASTS, make_link
from services.web.console.mails import cleaned, disposition
from services.web.console.routes import PARTS
from services.web.console.shown import saved_as, web_address
from services.web.console.site import Site, static_address
from tests.support.console import a_user, browser, form, signed_in, text_of
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

RUNS = "<script>alert(1)</script>"
HOSTILE = {
    "a script": RUNS,
    "a way out of an attribute": '"><img src=x onerror=alert(1)>',
    "a way out of a text box": "</textarea><script>alert(1)</script>",
    "a template": "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "text that runs backwards": "invoice\u202efdp.exe",
    "an SVG": "<svg/onload=alert(1)>",
}
HTML = """<html><head><meta http-equiv="refresh" content="0;url=http://evil.example"><base href="http://evil.example/">
<style>@import url(http://evil.example/a.css)</style><script>alert(1)</script></head>
<body onload="alert(1)" background="http://evil.example/b.png"><p style="background:url(http://evil.example/c)">Hello</p>
<img src="http://evil.example/pixel.gif"><svg onload="alert(1)"><script>alert(1)</script></svg>
<a href="javascript:alert(1)">click</a><a href="data:text/html,x">data</a><a href="https://good.example">good</a>
<iframe src="http://evil.example"></iframe><object data="x"></object><form action="http://evil.example"><input></form>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math></body></html>"""


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person, driven by hand."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as one:
        yield one


async def test_a_link_is_used_once(app: Tended) -> None:
    """Opening it uses nothing up; the first who goes on is signed in, and the second is not."""
    token = await make_link(app.app, await a_user(app.app))
    async with browser(app.app) as one, browser(app.app) as other:
        for _ in range(2):
            assert "Sign in as Grace" in text_of(await one.get(f"/console/sign-in/{token}"))
        assert (await one.post("/console/sign-in/link", data={"token": token})).status_code == 200
        again = await other.post("/console/sign-in/link", data={"token": token})
        assert again.status_code == 401
        assert "used already" in text_of(again)
        assert (await other.get("/console/inbox")).status_code == 401
    rows = await app.rows("SELECT * FROM console_sessions")
    assert [row["kind"] for row in rows] == ["session"]
    assert token not in str(rows)


async def test_a_page_said_that_the_fault_was_ours_while_postgres_was_away(app: Tended) -> None:
    """It says that the database does not answer, and that the same page will be there in a moment."""
    nobody_there = Database("postgresql://127.0.0.1:9/nothing", size=1, keys=None)
    async with signed_in(app.app) as client, browser(replace(app.app, database=nobody_there)) as meanwhile:
        meanwhile.cookies = client.cookies
        answer = await meanwhile.get("/console/inbox")
        assert answer.status_code == 503
        assert "database does not answer" in text_of(answer)
        assert (await client.get("/console/inbox")).status_code == 200


async def test_a_session_ends_by_itself_and_says_what_to_do(app: Tended) -> None:
    """After its time every page leads to signing in; the rows of what is over go when the next link is made."""
    link = await make_link(app.app, await a_user(app.app))
    async with signed_in(app.app) as client, browser(app.app) as late:
        app.clock.forward(app.clock() + LINK_LASTS + timedelta(seconds=1))
        assert (await late.get(f"/console/sign-in/{link}")).status_code == 401
        assert (await client.get("/console/inbox")).status_code == 200
        app.clock.forward(app.clock() + SESSION_LASTS)
        over = await client.get("/console/inbox")
        assert over.status_code == 401
        assert "correspondent console" in text_of(over)
        assert (await client.post("/console/threads/x/move", data={"to": "closed"})).status_code == 401
    await make_link(app.app)
    assert len(await app.rows("SELECT 1 FROM console_sessions")) == 1


async def test_a_token_that_was_planted_is_no_session_after_signing_in(app: Tended) -> None:
    """Whoever signs in gets a token that nobody had before, and the one that a cookie brought opens nothing."""
    planted = "planted-by-somebody-else-0000000000000000000"
    async with browser(app.app) as client, browser(app.app) as thief:
        client.cookies.set("correspondent", planted, domain="localhost.local", path="/")
        token = await make_link(app.app, await a_user(app.app))
        answer = await client.post("/console/sign-in/link", data={"token": token}, follow_redirects=False)
        assert answer.status_code == 303
        given = answer.cookies["correspondent"]
        for tried in (planted, token, sha256(given.encode()).hexdigest(), given[:-1], given.swapcase(), ""):
            thief.cookies.clear()
            thief.cookies.set("correspondent", tried)
            assert (await thief.get("/console/inbox")).status_code == 401, tried
        thief.cookies.clear()
        thief.cookies.set("correspondent", given)
        assert (await thief.get("/console/inbox")).status_code == 200


async def test_signing_out_ends_the_session_everywhere(app: Tended) -> None:
    """The cookie alone is worth nothing afterwards."""
    async with signed_in(app.app) as client:
        cookies = dict(client.cookies)
        out = await form(await client.get("/console/inbox"), "/sign-out").send(client)
        assert "You are signed out" in text_of(out)
        async with browser(app.app) as thief:
            thief.cookies.update(cookies)
            assert (await thief.get("/console/inbox")).status_code == 401


@pytest.mark.parametrize(
    ("place", "name", "secure"),
    [("http://localhost", "correspondent", False), ("https://desk.example", "__Host-correspondent", True)],
)
async def test_the_cookie_is_for_this_host_and_no_script(app: Tended, place: str, name: str, secure: bool) -> None:
    """HttpOnly, SameSite=Strict, and over https bound to the host."""
    async with browser(app.app, place) as client:
        client.follow_redirects = False
        link = await make_link(app.app, await a_user(app.app))
        answer = await client.post("/console/sign-in/link", data={"token": link})
        (cookie,) = answer.headers.get_list("set-cookie")
    said = [part.strip().lower() for part in cookie.split(";")]
    assert said[0].startswith(f"{name.lower()}=")
    assert {"httponly", "samesite=strict", "path=/"} <= set(said)
    assert ("secure" in said) == secure
    assert not any(part.startswith("domain") for part in said)


async def test_over_a_network_without_https_nobody_signs_in(app: Tended) -> None:
    """A link that was opened over plain http elsewhere than on this machine is not used up."""
    token = await make_link(app.app)
    async with browser(app.app, "http://desk.example") as client:
        answer = await client.post("/console/sign-in/link", data={"token": token})
        assert answer.status_code == 403
        assert (await client.post("/console/sign-in", data={"email": "a@b.example"})).status_code == 403
        assert "https" in text_of(answer)
        assert (await client.get(f"/console/sign-in/{token}")).status_code == 403
    assert [row["kind"] for row in await app.rows("SELECT kind FROM console_sessions")] == ["link"]


async def test_every_act_wants_a_form_of_the_session(app: Tended) -> None:
    """Each POST without the token, with a wrong one or with that of somebody else does nothing."""
    await app.write("Hello?")
    routes = [route for part in PARTS for route in part(Site(app.app)).routes if isinstance(route, APIRoute)]
    acts = [one.path for one in routes if "POST" in one.methods and not one.path.startswith("/console/sign-in")]
    assert len(acts) >= 9
    before = await app.newest()
    async with signed_in(app.app) as client, signed_in(app.app, "Ann") as other:
        theirs = form(await other.get("/console/inbox"), "/sign-out").fields["form_token"]
        for path in acts:
            filled = path.replace("{", "").replace("}", "")
            for data in (
                {"form_token": ""},
                {"form_token": "0" * 64},
                {"form_token": theirs},
                {"form_token": "\udcff"},
            ):
                answer = await client.post(
                    filled, data={name: value.encode("utf-8", "surrogatepass") for name, value in data.items()}
                )
                assert answer.status_code in (403, 422), (path, data)
            assert (await client.post(filled, json={"form_token": theirs})).status_code == 415
        async with browser(app.app) as nobody:
            assert {(await nobody.post(path)).status_code for path in acts} == {401}
        assert (await client.get("/console/inbox")).status_code == 200
    assert await app.newest() == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_form_of_another_site_signed_a_browser_in(app: Tended, site: str) -> None:
    """No form of the console counts that a page elsewhere sends, those without a session included: the browser says so."""
    user = await a_user(app.app)
    routes = [route for part in PARTS for route in part(Site(app.app)).routes if isinstance(route, APIRoute)]
    acts = [route.path for route in routes if "POST" in (route.methods or ())]
    assert {"/console/sign-in", "/console/sign-in/link"} < set(acts)
    async with signed_in(app.app) as client, browser(app.app) as nobody:
        own = form(await client.get("/console/inbox"), "/sign-out").fields["form_token"]
        for path in acts:
            link = await make_link(app.app, user) if path.endswith("/link") else ""
            for one in (client, nobody):
                given = {"token": link, "form_token": own}
                answer = await one.post(path, data=given, headers={"sec-fetch-site": site})
                assert answer.status_code == 403, path
                assert not answer.cookies, path


async def test_no_page_is_for_those_who_are_not_signed_in(app: Tended) -> None:
    """Without a session only signing in and our own style sheet are there; nothing else says whether it exists."""
    async with browser(app.app) as nobody:
        for path in (
            "inbox",
            "drafts",
            "people",
            "pipeline",
            "deliveries",
            "live",
            "nowhere",
            "threads/x",
            "mails/x/html",
        ):
            answer = await nobody.get(f"/console/{path}")
            assert answer.status_code == 401, path
        assert (await nobody.get(static_address("console.css"))).status_code == 200
        assert (await nobody.get(static_address("..%2fsite.py"))).status_code in (401, 404)
        assert (await nobody.get(static_address("site.py"))).status_code == 404


@pytest.mark.parametrize("what", HOSTILE)
async def test_what_others_write_is_text(app: Tended, what: str) -> None:
    """A name, subject, text or file name is shown as it is written, in every place where it stands; nothing of it runs."""
    said = HOSTILE[what]
    mail = EmailMessage()
    mail["From"] = f"{ADA}"
    mail["To"], mail["Message-ID"] = app.app.settings.inboxes[0].address, "<hostile@acme.example>"
    mail["Subject"] = f"Subject {said}"
    mail.replace_header("From", f'"{said.replace(chr(34), chr(39))}" <{ADA}>')
    mail.set_content(f"Text {said}\nWe are on the Team plan.")
    mail.add_attachment(said.encode(), maintype="image", subtype="svg+xml", filename=f"{said}.svg".replace("/", "-"))
    thread = await app.receive(mail.as_bytes())
    await app.ask("add", on=0.1, key="note", value=said[:100], kind="customer_info")
    (row,) = await app.rows("SELECT mail_id FROM mails")
    (draft,) = await app.rows("SELECT reply_id FROM deliveries WHERE state = 'draft'")
    async with signed_in(app.app, name=said[:60].replace("\u202e", "")) as client:
        paths = (
            "inbox", "inbox?view=all", f"threads/{thread}", f"threads/{thread}/why", "drafts", f"drafts/{draft['reply_id']}",
            f"mails/{row['mail_id']}", "people", f"people/{app.person()}", f"people/{app.person()}/history?key=note",
            "deliveries",
        )  # fmt: skip
        for path in paths:
            page = await client.get(f"/console/{path}")
            assert page.status_code == 200, (path, text_of(page))
            root = html.fromstring(page.text)
            assert [one for one in root.iter("script") if not one.get("src", "").startswith("/console/static/")] == []
            assert not [one for one in root.iter() if any(str(name).startswith("on") for name in one.attrib)], path
            assert len(root.xpath("//svg[not(@class='flow')]")) == 0
            assert not root.xpath("//img")
            assert "\u202e" not in page.text
            assert "49" not in text_of(page).split("Subject")[-1][:12]
        found = await client.get("/console/inbox", params={"q": said})
        assert found.status_code == 200
        assert RUNS not in found.text
        file = await client.get(f"/console/mails/{row['mail_id']}/files/0")
    assert file.content.strip() == said.encode()
    assert file.headers["content-type"] == "application/octet-stream"
    assert file.headers["content-disposition"].startswith("attachment;")
    assert "sandbox" in file.headers["content-security-policy"]
    assert file.headers["x-content-type-options"] == "nosniff"


async def test_the_html_of_a_mail_runs_and_loads_nothing(app: Tended) -> None:
    """It is cleaned, its policy allows no load, and the frame around it allows no script."""
    mail = EmailMessage()
    mail["From"], mail["To"] = ADA, app.app.settings.inboxes[0].address
    mail["Subject"], mail["Message-ID"] = "HTML", "<html@acme.example>"
    mail.set_content("Hello")
    mail.add_alternative(HTML, subtype="html")
    await app.receive(mail.as_bytes())
    (row,) = await app.rows("SELECT mail_id FROM mails")
    async with signed_in(app.app) as client:
        around = html.fromstring((await client.get(f"/console/mails/{row['mail_id']}")).text)
        (frame,) = around.iter("iframe")
        inner = await client.get(frame.get("src"))
    assert frame.get("sandbox") == ""
    policy = inner.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert policy.endswith("sandbox")
    assert "img-src" not in policy
    assert "script-src" not in policy
    body = inner.text.partition("<body>")[2]
    assert "Hello" in body
    assert "https://good.example" in body
    for bad in (
        "<script",
        "onload",
        "onerror",
        "<img",
        "<svg",
        "<iframe",
        "<form",
        "<style",
        "<meta",
        "<base",
        "<math",
        "javascript:",
        "data:text",
        "evil.example",
    ):
        assert bad not in body.lower(), bad


def test_an_address_that_runs_something_is_no_link() -> None:
    """Only addresses of the web are linked."""
    assert web_address("https://good.example/a") == "https://good.example/a"
    for bad in (
        "javascript:alert(1)",
        "JaVaScRiPt://x/%0aalert(1)",
        "data:text/html,x",
        "//evil.example",
        "http://",
        "http://[",
        None,
    ):
        assert web_address(bad) == ""


def test_a_file_name_names_no_place() -> None:
    """Folders, dots and characters that hide are taken away."""
    assert saved_as("../../etc/passwd") == "passwd"
    assert saved_as("C:\\Users\\x\\a.txt") == "a.txt"
    assert saved_as("..") == saved_as("") == "attachment"
    assert "\u202e" not in saved_as("x\u202efdp.exe")
    assert "\n" not in saved_as("a\nb")


@given(name=st.text(st.characters(codec=None, exclude_categories=()), max_size=300))
@example(name="a" * 10_000)
@example(name="../" * 3_000 + "x")
@example(name='x"; filename=evil.html; a="')
@example(name="x\r\nContent-Type: text/html\r\n\r\n<script>")
@example(name="\0\ud800.\u202egpj.exe")
@example(name="=?utf-8?q?a=0Ab?=%0d%0a")
def test_whatever_a_file_is_called_its_header_is_one(name: str) -> None:
    """Short, of plain ASCII in one line, with no quote, semicolon or percent of its own, and no place in it."""
    saved = saved_as(name)
    assert 0 < len(saved) <= 120
    assert not {"/", "\\", "\0"} & set(saved)
    assert not saved.startswith(".")
    assert saved == printable(saved)
    assert re.fullmatch(r"attachment; filename\*=UTF-8''(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+", disposition(name))


def test_cleaning_keeps_what_a_mail_says() -> None:
    """Tables, lists and emphasis stay; pictures, which tell who reads, do not."""
    kept = cleaned(
        '<table><tr><td><b>a</b></td></tr></table><ul><li>b</li></ul><img src="cid:x"><a href="mailto:a@b.example">c</a>'
    )
    assert "<td><b>a</b></td>" in kept
    assert "<li>b</li>" in kept
    assert "mailto:a@b.example" in kept
    assert "img" not in kept


async def test_an_answer_of_the_console_is_never_kept_or_framed(app: Tended) -> None:
    """Errors and pages alike carry the headers."""
    async with browser(app.app) as nobody, signed_in(app.app) as client:
        for answer in (
            await nobody.get("/console/inbox"),
            await client.get("/console/inbox"),
            await client.get("/console/x"),
        ):
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


async def test_an_address_with_what_no_table_holds_is_refused_in_words(app: Tended) -> None:
    """A NUL, half of a surrogate pair and overlong text give a page, never a fault of ours."""
    async with signed_in(app.app) as client:
        for query in (
            "q=%00",
            "q=%ED%A0%80",
            f"q={'x' * 10_000}",
            "view=%00",
            f"after={'9' * 5000}",
            "q='; & | ! :* <-> \\",
        ):
            answer = await client.get(f"/console/inbox?{query}")
            assert answer.status_code < 500, (query, text_of(answer))
        page: httpx.Response = await client.get("/console/people/%00")
        assert page.status_code in (404, 422)
