"""What a customer says of an answer: by a link in it, counted when a button is pressed and never when the link is opened."""

from __future__ import annotations

import asyncio
import email
import re
from collections.abc import AsyncIterator
from email import policy
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.ratings import rating_pages
from services.web.routes import routes
from tests.support.chromium import WHERE_INSTALLED, Window, chromium, served_here
from tests.support.console import signed_in, text_of
from tests.support.erasing import differences
from tests.support.remembering import ADA
from tests.support.smtp_server import SmtpServer
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
PUBLIC = "https://mail.ourcompany.example"
LINK = re.compile(re.escape(PUBLIC) + r"(/rate/[a-z2-7]{42})")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer
) -> AsyncIterator[Tended]:
    """A deployment that asks, with a footer of its own in text and HTML."""
    inbox = {
        "name": "support",
        "address": "support@ourcompany.example",
        "vouched_by": "test",
        "satisfaction": {"ask": True, "question": f"How was it? {HOSTILE}"},
        "layout": {"footer": "Our Company", "footer_html": "<p>Our <b>Company</b></p>"},
    }
    changes: dict[str, Any] = {
        "inboxes": [inbox],
        "smtp": {"host": "127.0.0.1", "port": server.port, "timeout_s": 20},
        "web": {"api_token": TOKEN, "public_url": PUBLIC},
    }
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


def anybody(app: Tended) -> httpx.AsyncClient:
    """Somebody who is signed in nowhere."""
    transport = httpx.ASGITransport(make_app([rating_pages(app.app)]), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=PUBLIC)


def smtp_messages(server: SmtpServer) -> list[Any]:
    return [email.message_from_bytes(one.raw, policy=policy.default) for one in server.accepted]


def part(mail: Any, kind: str) -> str:
    return str(mail.get_body((kind,)).get_content())


async def asked(app: Tended, server: SmtpServer) -> str:
    """The path of the link in the answer to a mail."""
    await app.write("How do I export as CSV?")
    found = LINK.search(part(smtp_messages(server)[-1], "plain"))
    assert found
    return found[1]


async def ratings(app: Tended) -> list[tuple[bool, str]]:
    await app.settle()
    rows = await app.rows("SELECT good, comment FROM reply_ratings ORDER BY rated_at")
    return [(row["good"], row["comment"]) for row in rows]


async def test_an_answer_asks_in_both_parts_and_opening_the_link_counts_nothing(
    app: Tended, server: SmtpServer
) -> None:
    """Scanners follow links, also with HEAD: whatever is opened, only a button counts; the page says nothing of anybody."""
    path = await asked(app, server)
    (mail,) = smtp_messages(server)
    assert f"Our Company\n\nHow was this answer? {PUBLIC}{path}" in part(mail, "plain").replace("\r\n", "\n")
    assert f'<a href="{PUBLIC}{path}"' in part(mail, "html")
    async with anybody(app) as client:
        for _ in range(3):
            page = await client.get(path)
            assert page.status_code == 200
            await client.head(path)
        assert "script-src" not in page.headers["content-security-policy"]
        assert HOSTILE not in page.text
        assert "How was it?" in page.text
        for secret in (ADA, "CSV", "Export", "Our Company"):
            assert secret not in page.text
    assert await ratings(app) == []
    assert await app.rows("SELECT 1 FROM events WHERE type = 'thread.rating_requested.v1'") == []


async def test_a_button_counts_once_a_turn_and_may_be_changed_for_a_day(
    app: Tended, server: SmtpServer, stack: Endpoints
) -> None:
    """The last word within a day stands, and after a rebuild; the same word twice is one event; later nothing changes."""
    path = await asked(app, server)
    async with anybody(app) as client:
        answer = await client.post(path, data={"rating": "good", "comment": ""})
        assert "Thank you." in answer.text
        assert await ratings(app) == [(True, "")]
        await client.post(path, data={"rating": "good", "comment": " "})
        await client.post(path, data={"rating": "bad", "comment": f"It was about PDF. {HOSTILE}"})
        assert await ratings(app) == [(False, f"It was about PDF. {HOSTILE}")]
        kinds = await app.rows(
            "SELECT type FROM events WHERE type LIKE 'thread.rat%%' OR type = 'thread.reply_rated.v1'"
        )
        assert (
            sorted(row["type"] for row in kinds) == ["thread.rating_requested.v1"] * 2 + ["thread.reply_rated.v1"] * 2
        )
        await app.wait(hours=23)
        await client.post(path, data={"rating": "good", "comment": "Sorry, it helped."})
        await app.wait(hours=2)
        late = await client.post(path, data={"rating": "bad"})
        assert late.status_code == 409
        assert "can be changed no more" in late.text
    assert await ratings(app) == [(True, "Sorry, it helped.")]
    assert await differences(app.app, stack) == set()
    whole = await app.thread((await app.rows("SELECT thread_id FROM threads"))[0]["thread_id"])
    assert [one.detail for one in whole.actions if one.action == "answer rated"] == ["good", "bad", "good"]


async def test_whoever_has_a_link_makes_ten_changes_at_most(app: Tended, server: SmtpServer) -> None:
    """More is refused, a burst by the pace of the link alone; a made-up link is unknown, as is one for something else."""
    path = await asked(app, server)
    async with anybody(app) as client:
        codes = [
            (await client.post(path, data={"rating": "good", "comment": str(one)})).status_code for one in range(12)
        ]
        assert codes[:10] == [200] * 10
        assert codes[10:] == [429] * 2
        await app.settle()
        rows = await app.rows("SELECT changes FROM reply_ratings")
        assert rows == [{"changes": 9}]
        for wrong in ("/rate/" + "a" * 42, path[:-1], path + "a", "/rate/%00", "/rate/" + "7" * 42):
            assert (await client.get(wrong)).status_code == 404
            assert (await client.post(wrong, data={"rating": "good"})).status_code == 404
    async with anybody(app) as other:
        assert (await other.post(path, data={"rating": "bad"})).status_code == 200
        await app.settle()
        assert (await other.post(path, data={"rating": "good"})).status_code == 409


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"data": {"rating": "excellent"}}, 422),
        ({"data": {}}, 415),
        ({"json": {"rating": "good"}}, 415),
        ({"data": {"rating": "good", "comment": "a\x00b"}}, 422),
        ({"data": {"rating": "good", "comment": "x" * 600_000}}, 413),
        (
            {"content": b"rating=good&comment=%ff", "headers": {"content-type": "application/x-www-form-urlencoded"}},
            422,
        ),
    ],
)
async def test_what_is_no_rating_is_refused_on_a_page(
    app: Tended, server: SmtpServer, sent: dict[str, Any], status: int
) -> None:
    """No button of ours, no form, a NUL, too much, bytes that are no text: in words, and nothing is counted."""
    path = await asked(app, server)
    async with anybody(app) as client:
        answer = await client.post(path, **sent)
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
    assert await ratings(app) == []


async def test_the_quality_page_shows_the_share_by_inbox_and_week(app: Tended, server: SmtpServer) -> None:
    """Also over the API; what customers wrote stands there as text, with a link to the thread."""
    for number, rating in enumerate(("good", "good", "bad")):
        await app.write(
            "How do I export as CSV?", subject=f"Export {number}", sender=f"ann{number}@acme{number}.example"
        )
        found = LINK.search(part(smtp_messages(server)[-1], "plain"))
        assert found
        async with anybody(app) as client:
            await client.post(found[1], data={"rating": rating, "comment": HOSTILE if rating == "bad" else ""})
        await app.settle()
    async with signed_in(app.app) as grace:
        page = await grace.get("/console/quality?weeks=4")
        assert "What customers said of answers" in text_of(page)
        assert "support 3 67 % 67 % of 3" in text_of(page)
        assert HOSTILE not in page.text
        assert "alert(1)" in page.text
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as client:
        said = (await client.get("/api/quality?weeks=4")).json()
    (inbox,) = said["inboxes"]
    assert (inbox["name"], inbox["total"]["good"], inbox["total"]["bad"]) == ("support", 2, 1)
    assert [one["comment"] for one in said["comments"]] == [HOSTILE]


async def test_nobody_is_asked_where_it_is_off_or_the_sender_is_not_proven(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer
) -> None:
    """Off is the default; who proves nothing gets the fixed reply, and no link in it."""
    inboxes = [
        {"name": "off", "address": "off@ourcompany.example", "vouched_by": "test"},
        {"name": "open", "address": "open@ourcompany.example", "satisfaction": {"ask": True}},
    ]
    said: dict[str, Any] = {"inboxes": inboxes, "web": {"public_url": PUBLIC}}
    said["smtp"] = {"host": "127.0.0.1", "port": server.port, "timeout_s": 20}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        await app.write("How do I export as CSV?")
        await app.write("How do I export as CSV?", inbox=1, sender="bo@granite.example")
        assert len(server.accepted) == 2
        assert not any(b"/rate/" in one.raw for one in server.accepted)


@WHERE_INSTALLED[0]
@WHERE_INSTALLED[1]
async def test_axe_finds_nothing_on_the_page_of_a_link(app: Tended, server: SmtpServer) -> None:
    """Opened, answered, unknown: light, dark, and as narrow as a telephone; the buttons are large enough."""
    path = await asked(app, server)

    def look(place: str) -> list[str]:
        found = []
        with chromium() as driver:
            window = Window(driver)
            for theme, width in (("light", 1200), ("dark", 1200), ("light", 320)):
                window.look(theme=theme, width=width)
                for address in (path, "/rate/none"):
                    driver.get(f"{place}{address}")
                    found += [f"{address} {theme} {width}: {one}" for one in window.barriers()]
                driver.get(f"{place}{path}")
                driver.find_element("css selector", "button[value=good]").click()
                found += [f"answered {theme} {width}: {one}" for one in window.barriers()]
        return found

    async with served_here(app.app) as place:
        assert await asyncio.to_thread(look, place) == []
    assert await ratings(app) == [(True, "")]
