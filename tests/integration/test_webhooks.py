"""Webhooks that other programs get: each event once an endpoint, signed, for days, and nothing of whom was erased."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from deploy.local import Endpoints
from schemas.webhook_payloads import DATA, KINDS, TEST
from services import send_webhooks
from services.core.bus.event_row import EventRow
from services.core.bus.processor import ReplayRefused
from services.core.bus.runner import Runner
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.operations.erase.run import erase
from services.operations.webhooks.endpoints import (
    EndpointRefused,
    Made,
    Wanted,
    add_endpoint,
    change_endpoint,
    pause_endpoint,
    remove_endpoint,
    rotate_secret,
)
from services.operations.webhooks.listing import DeliveryLine, EndpointLine, endpoint_line, list_deliveries
from services.operations.webhooks.requests import WebhookRefused, deliver_again, resume, send_test
from tests.support.alert_receiver import Post, Receiver, receiving
from tests.support.erasing import differences, found
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
T = TypeVar("T")
BOB = "Bob <bob@b.example>"
PRIVATE = {"outgoing_webhooks": {"private_hosts": True, "timeout_s": 1}}


@dataclass
class Desk:
    """A deployment with a receiver next to it."""

    app: Tended
    hook: Receiver

    async def add(self, *kinds: str, url: str = "", with_text: bool = False) -> Made:
        return await add_endpoint(self.app.app, Wanted(url or self.hook.url, kinds, "a test", with_text), by="grace")

    async def done(self, asked: Awaitable[T]) -> T:
        """What comes of something that waits for the deployment, which works meanwhile."""
        task = asyncio.ensure_future(asked)
        while not task.done():
            await self.app.settle()
            await asyncio.sleep(0.01)
        return await task

    async def told(self, made: Made) -> list[DeliveryLine]:
        return list(await list_deliveries(self.app.app, made.endpoint.endpoint_id, limit=100))

    async def line(self, made: Made) -> EndpointLine:
        return await endpoint_line(self.app.app, made.endpoint.endpoint_id)

    def types(self) -> list[str]:
        return [one.said["type"] for one in self.hook.posts]


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with receiving() as hook, tending(stack, database, topic_prefix, tmp_path, **PRIVATE) as app:
        yield Desk(app, hook)


def verified(post: Post, secret: str) -> Any:
    """What a receiver with the secret makes of a call, with the library."""
    return Webhook(secret).verify(post.body, post.headers)


async def test_an_event_is_told_once_signed_and_without_text(desk: Desk) -> None:
    """The library verifies it; ids and words of a list, nothing of the mail; and however much time passes, once."""
    desk.app.clock.forward(utc_now())
    made = await desk.add("mail.received", "thread.opened", "reply.sent")
    thread_id = await desk.app.write(
        "How do I export, SECRETWORD?", subject="SECRETSUBJECT", sender="Ada <ada@x.example>"
    )
    said = [verified(one, made.secret) for one in desk.hook.posts]
    assert [one["type"] for one in said][:2] == ["mail.received", "thread.opened"]
    assert {one["data"]["thread_id"] for one in said} == {str(thread_id)}
    for one in said:
        assert DATA[one["type"]].model_validate(one["data"]).model_dump(mode="json") == one["data"]
    bodies = b"".join(one.body for one in desk.hook.posts)
    assert not any(word in bodies for word in (b"SECRETWORD", b"SECRETSUBJECT", b"ada@x.example", b"Ada"))
    with pytest.raises(WebhookVerificationError):
        verified(desk.hook.posts[0], made.secret.replace(made.secret[10:14], "AAAA"))
    await desk.app.wait(days=5)
    assert "reply.sent" in desk.types()
    assert set(Counter(one.headers["webhook-id"] for one in desk.hook.posts).values()) == {1}
    assert {one.state for one in await desk.told(made)} == {"delivered"}


async def test_text_is_told_where_the_endpoint_asks_for_it(desk: Desk) -> None:
    """What people wrote stands in `text`, cut at a length."""
    await desk.add("mail.received", with_text=True)
    await desk.app.write("How? " + "x" * 30_000, subject="Export", sender="Ada <ada@x.example>")
    (post,) = desk.hook.posts
    text = post.said["data"]["text"]
    assert (text["author_name"], text["author_address"], text["subject"]) == ("Ada", "ada@x.example", "Export")
    assert (len(text["body"]), text["cut"]) == (20_000, True)


async def test_the_same_event_twice_is_one_webhook(desk: Desk) -> None:
    """Handled again, by this process or another one, an event queues nothing and sends nothing."""
    await desk.add()
    await desk.app.write("How do I export?")
    before = len(desk.hook.posts)
    kinds = [one.TYPE for one in send_webhooks.PROCESSOR.handlers]
    async with desk.app.app.database.reading() as conn:
        rows = await fetch_all(conn, "SELECT * FROM events WHERE type = ANY(%(kinds)s) ORDER BY seq", {"kinds": kinds})
    for row in rows:
        await Runner(send_webhooks.PROCESSOR, desk.app.app).process(EventRow.of(**row).envelope())
    await desk.app.wait(hours=1)
    assert before > 0
    assert len(desk.hook.posts) == before


async def test_what_is_not_taken_is_tried_again_under_the_same_id_for_days(desk: Desk) -> None:
    """By the one schedule of retries, with the same body; the answer is shown; taken at last it is told no more."""
    made = await desk.add("thread.opened")
    desk.hook.answer, desk.hook.content = "503 Service Unavailable", b'{"why": "we move\x1b[31m house"}'
    await desk.app.write("How do I export?")
    (line,) = await desk.told(made)
    assert (line.state, line.status, line.attempt, line.detail) == ("waiting", 503, 1, "503 Service Unavailable")
    assert line.answer == '{"why": "we move·[31m house"}'
    for _ in range(24):
        await desk.app.wait(minutes=15)
    many = len(desk.hook.posts)
    assert many == 7, "at once, and after 1, 5, 15, 30, 60 and 120 minutes, where time passes by quarters of an hour"
    desk.hook.answer = "200 OK"
    await desk.app.wait(days=2)
    assert len(desk.hook.posts) == many + 1
    assert len({(one.headers["webhook-id"], one.body) for one in desk.hook.posts}) == 1
    (line,) = await desk.told(made)
    assert (line.state, line.detail) == ("delivered", "")


async def test_an_endpoint_that_takes_nothing_is_given_up_and_then_disabled_with_an_alert(desk: Desk) -> None:
    """After `retry_days` a webhook fails; after `disable_days` the endpoint is told nothing, until a person resumes it."""
    made = await desk.add("thread.opened")
    desk.hook.answer = "500 Internal Server Error"
    await desk.app.write("How do I export?")
    await desk.app.wait(days=4)
    (line,) = await desk.told(made)
    assert line.state == "failed"
    assert line.detail == "given up after 3 days: 500 Internal Server Error"
    assert (await desk.line(made)).state == "enabled"
    await desk.app.wait(days=2)
    await desk.app.write("And how do I import?", sender=BOB)
    stands = await desk.line(made)
    assert stands.state == "disabled"
    assert stands.reason == "it has taken nothing for 5 days; the last attempt: 500 Internal Server Error"
    calls = await desk.app.rows("SELECT id, type, time, data FROM events WHERE type = 'person.called.v1'")
    async with desk.app.app.database.reading() as conn:
        opened = await fetch_all(conn, "SELECT data FROM events WHERE type = 'person.called.v1'")
    assert len(calls) == 1
    assert opened[0]["data"]["reason"].startswith(
        "the webhook endpoint at 127.0.0.1 was disabled: it has taken nothing"
    )
    many = len(desk.hook.posts)
    desk.hook.answer = "200 OK"
    await desk.app.write("Hello?", sender="Cy <cy@c.example>")
    await desk.app.wait(days=1)
    assert len(desk.hook.posts) == many
    id = made.endpoint.endpoint_id
    first = (await desk.told(made))[-1].webhook_id
    with pytest.raises(WebhookRefused, match="resume it first"):
        await deliver_again(desk.app.app, id, first, by="grace", timeout_s=30)
    assert (await desk.done(resume(desk.app.app, id, by="grace", timeout_s=30))).state == "enabled"
    again = await desk.done(deliver_again(desk.app.app, id, first, by="grace", timeout_s=30))
    assert (again.state, again.webhook_id) == ("delivered", first)
    await desk.app.write("Hello again?", sender="Di <di@d.example>")
    assert len(desk.hook.posts) == many + 2
    assert desk.hook.posts[-2].headers["webhook-id"] == str(first)


async def test_gone_disables_at_once(desk: Desk) -> None:
    """410 says that nothing is wanted there: nothing is tried again, what waited has failed, and people are alerted."""
    made = await desk.add("mail.received", "thread.opened")
    desk.hook.answer = "410 Gone"
    await desk.app.write("How do I export?")
    await desk.app.wait(days=2)
    assert len(desk.hook.posts) == 1
    assert (await desk.line(made)).reason.startswith("it answers 410 Gone")
    assert {one.state for one in await desk.told(made)} == {"failed"}
    assert len(await desk.app.rows("SELECT 1 FROM events WHERE type = 'person.called.v1'")) == 1


async def test_an_endpoint_that_hangs_holds_up_no_other(desk: Desk) -> None:
    """It is given its time and tried later; the other is told meanwhile, and a body that never ends is cut off."""
    async with receiving() as slow, receiving() as dripping:
        slow.answer, dripping.answer, dripping.drips = None, "200 OK", True
        hanging = await desk.add("thread.opened", url=slow.url)
        drips = await desk.add("thread.opened", url=dripping.url)
        good = await desk.add("thread.opened")
        for number in range(3):
            await desk.app.write("How do I export?", sender=f"P{number} <p{number}@x.example>")
        assert {one.state for one in await desk.told(good)} == {"delivered"}
        assert {one.detail for one in await desk.told(hanging)} == {"no answer in 1 s (outgoing_webhooks.timeout_s)"}
        assert len(await desk.told(drips)) == 3
        slow.answer = "200 OK"
        await desk.app.wait(hours=1)
        assert {one.state for one in await desk.told(hanging)} == {"delivered"}


async def test_a_redirect_is_not_followed(desk: Desk) -> None:
    """Wherever it leads: the operator registers the final address."""
    async with receiving() as other:
        made = await desk.add("thread.opened")
        desk.hook.answer = f"307 Temporary Redirect\r\nlocation: {other.url}"
        await desk.app.write("How do I export?")
        (line,) = await desk.told(made)
        assert line.detail == "307 Temporary Redirect, and a redirect is not followed: register the final address"
        assert other.posts == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest",
        "https://10.0.0.1",
        "https://user:pass@example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///hook",
        "javascript:alert(1)",
        "https://exa mple.com/",
        "https://example.com/\r\nx: y",
        "https://" + "a" * 70 + ".example/",
        "https://example.com/" + "a" * 2000,
        "https://no-such-host.invalid/",
        "https://[::ffff:10.0.0.1]/",
        "https://0x7f000001/",
        "https://example.com:99999/",
        "https://ex\u00e4mple.com/",
        "",
    ],
)
async def test_an_address_that_leads_nowhere_good_is_refused(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, url: str
) -> None:
    """What is no plain https address of a public host is not registered, unless the settings let private hosts in."""
    async with tending(stack, database, topic_prefix, tmp_path) as app:
        with pytest.raises(EndpointRefused):
            await add_endpoint(app.app, Wanted(url), by="grace")
        assert await app.rows("SELECT 1 FROM webhook_endpoints") == []


async def test_a_name_that_became_private_is_not_called(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The address is looked up again for each attempt, and the one that was checked is the one that is called."""
    async with receiving() as hook:
        async with tending(stack, database, topic_prefix, tmp_path, **PRIVATE) as app:
            made = await add_endpoint(app.app, Wanted(hook.url, ("thread.opened",)), by="grace")
        async with tending(stack, database, topic_prefix, tmp_path) as app:  # the settings let nothing private in
            app.clock.forward(app.clock() + timedelta(days=1))
            await app.write("How do I export?")
            (line,) = await list_deliveries(app.app, made.endpoint.endpoint_id, limit=10)
            assert (
                line.detail
                == "127.0.0.1 is at 127.0.0.1, which is not public; outgoing_webhooks.private_hosts allows it"
            )
        assert hook.posts == []


async def test_a_secret_is_sealed_shown_once_and_replaced_with_a_day_of_both(desk: Desk) -> None:
    """No row holds it; for a day after a rotation both verify, then the new one alone."""
    desk.app.clock.forward(utc_now())
    made = await desk.add("thread.opened")
    (row,) = await desk.app.rows("SELECT * FROM webhook_endpoints")
    assert made.secret.encode() not in bytes(row["secret"])
    assert "secret" not in EndpointLine.__slots__
    rotated = await rotate_secret(desk.app.app, made.endpoint.endpoint_id)
    await desk.app.write("How do I export?")
    (post,) = desk.hook.posts
    assert verified(post, made.secret) == verified(post, rotated.secret) == post.said
    await desk.app.wait(days=1)
    await desk.app.write("How do I import?", sender=BOB)
    assert len(desk.hook.posts[-1].headers["webhook-signature"].split()) == 1
    await remove_endpoint(desk.app.app, made.endpoint.endpoint_id)
    (row,) = await desk.app.rows("SELECT * FROM webhook_endpoints")
    assert (row["secret"], row["former_secret"]) == (None, None)


async def test_a_paused_endpoint_is_told_nothing_but_tests(desk: Desk) -> None:
    """What happens while it is paused is not told later; what waited before goes on when it is resumed."""
    made = await desk.add("thread.opened")
    id = made.endpoint.endpoint_id
    desk.hook.answer = "500 Internal Server Error"
    await desk.app.write("How do I export?")
    await pause_endpoint(desk.app.app, id)
    desk.hook.answer = "200 OK"
    await desk.app.write("How do I import?", sender=BOB)
    await desk.app.wait(hours=2)
    assert len(desk.hook.posts) == 1
    tested = await desk.done(send_test(desk.app.app, id, by="grace", timeout_s=30))
    assert (tested.kind, tested.state, tested.status) == (TEST, "delivered", 200)
    assert desk.hook.posts[-1].said["data"] == {"endpoint_id": str(id)}
    await desk.done(resume(desk.app.app, id, by="grace", timeout_s=30))
    await desk.app.settle()
    assert desk.types() == ["thread.opened", TEST, "thread.opened"]
    assert len({one.headers["webhook-id"] for one in desk.hook.posts}) == 2


async def test_of_what_was_before_and_of_imported_mail_nothing_is_told(desk: Desk) -> None:
    """An endpoint is told of what happens from its registration on, and an import is no event of today."""
    await desk.app.write("How do I export?")
    made = await desk.add()
    await desk.app.write("An old question.", sender=BOB, mode="history")
    await desk.app.settle()
    assert await desk.told(made) == []


async def test_webhooks_of_a_thread_come_in_order(desk: Desk) -> None:
    """What happened first in a thread is told first, whatever else is on its way."""
    await desk.add()
    threads = [await desk.app.write("How do I export?", sender=f"P{n} <p{n}@x.example>") for n in range(6)]
    await desk.app.wait(days=3)
    for thread_id in threads:
        of_it = [one.said["type"] for one in desk.hook.posts if one.said["data"].get("thread_id") == str(thread_id)]
        assert of_it[:2] == ["mail.received", "thread.opened"]
        assert "reply.sent" in of_it[2:]


async def test_nothing_of_an_erased_person_is_delivered_again(desk: Desk, stack: Endpoints) -> None:
    """What waits for them fails unsent, what was delivered cannot be again, their answers go; the erase itself is told."""
    made = await desk.add("mail.received", "thread.opened", "participant.erased", with_text=True)
    desk.hook.answer, desk.hook.content = "200 OK", b"ticket for Ada Quillfeather"
    first = await desk.app.write("My word is OBSCUREWORD.", sender="Ada Quillfeather <ada@acme.example>")
    desk.hook.answer = "503 Service Unavailable"
    await desk.app.write("And another OBSCUREWORD.", sender="Ada Quillfeather <ada@acme.example>", subject="Second")
    await desk.app.write("I am Bob.", sender=BOB)
    lines = await desk.told(made)
    delivered = next(one for one in lines if one.state == "delivered" and one.thread_id == first)
    assert delivered.answer == "ticket for Ada Quillfeather"
    many = len(desk.hook.posts)
    person = desk.app.person("ada@acme.example")
    await erase(desk.app.app, await found(desk.app.app, "ada@acme.example"), by="the test")
    desk.hook.answer, desk.hook.content = "200 OK", b""
    await desk.app.wait(days=1)
    later = desk.hook.posts[many:]
    assert Counter(one.said["type"] for one in later) == {
        "mail.received": 1,
        "thread.opened": 1,
        "participant.erased": 1,
    }
    assert not any(b"OBSCUREWORD" in one.body or b"Ada" in one.body for one in later)
    assert next(one.said["data"] for one in later if one.said["type"] == "participant.erased") == {
        "participant_id": str(person)
    }
    asked = deliver_again(desk.app.app, made.endpoint.endpoint_id, delivered.webhook_id, by="grace", timeout_s=30)
    again = await desk.done(asked)
    assert again.state == "failed"
    assert again.detail.startswith("what it is about can no longer be read")
    assert len(desk.hook.posts) == many + len(later)
    assert {one.answer for one in await desk.told(made)} == {""}
    assert await differences(desk.app.app, stack) == set()


async def test_a_rebuild_sends_nothing_and_gives_the_same_tables(desk: Desk, stack: Endpoints) -> None:
    """Queued, refused, given up, delivered again, disabled: the stored events give the rows, and nobody is called."""
    made = await desk.add("mail.received", "thread.opened")
    await desk.app.write("How do I export?")
    desk.hook.answer = "500 Internal Server Error"
    await desk.app.write("How do I import?", sender=BOB)
    await desk.app.wait(days=4)
    desk.hook.answer = "200 OK"
    (failed, *_) = [one for one in await desk.told(made) if one.state == "failed"]
    id = made.endpoint.endpoint_id
    await desk.done(deliver_again(desk.app.app, id, failed.webhook_id, by="grace", timeout_s=30))
    desk.hook.answer = "410 Gone"
    await desk.app.write("And now?", sender="Cy <cy@c.example>")
    many = len(desk.hook.posts)
    assert await differences(desk.app.app, stack) == set()
    for table in ("webhook_deliveries", "webhook_health"):
        assert await desk.app.rows(f"SELECT 1 FROM {table}"), "nothing is proved by tables without rows"
    await desk.app.wait(days=1)
    assert len(desk.hook.posts) == many


async def test_a_replay_tells_nobody(desk: Desk) -> None:
    """An event with a replay's mark is refused before anything is queued, and so is the timer of an endpoint."""
    made = await desk.add()
    desk.hook.answer = "503 Service Unavailable"
    await desk.app.write("How do I export?")
    many, lines = len(desk.hook.posts), await desk.told(made)
    async with desk.app.app.database.reading() as conn:
        rows = await fetch_all(conn, "SELECT * FROM events WHERE topic IN ('inbound-email', 'timers') ORDER BY seq")
    ours = [
        one
        for one in (EventRow.of(**row).envelope() for row in rows)
        if type(one.data) in send_webhooks.PROCESSOR.handlers
    ]
    assert {one.topic for one in ours} == {"inbound-email", "timers"}
    for number, one in enumerate(ours):
        again = replace(one, id=UUID(int=number), replay="a replay")  # an id that no journal knows
        with pytest.raises(ReplayRefused):
            await Runner(send_webhooks.PROCESSOR, desk.app.app).process(again)
    assert (len(desk.hook.posts), await desk.told(made)) == (many, lines)


async def test_while_nothing_may_leave_nothing_is_told(desk: Desk) -> None:
    """A restored deployment calls nobody before a person releases it; then what waited is told."""
    made = await desk.add("thread.opened")
    async with desk.app.app.database.reading() as conn:
        args = {"workspace": desk.app.workspace, "now": desk.app.clock()}
        await conn.execute(
            "INSERT INTO sending_holds (workspace, reason, since, taken_at) VALUES (%(workspace)s, 'restored', %(now)s, %(now)s)",
            args,
        )
    await desk.app.write("How do I export?")
    await desk.app.wait(hours=1)
    assert desk.hook.posts == []
    async with desk.app.app.database.reading() as conn:
        await conn.execute("DELETE FROM sending_holds")
    await desk.app.wait(minutes=10)
    assert [one.state for one in await desk.told(made)] == ["delivered"]


async def test_what_happens_is_told_by_its_public_type(desk: Desk) -> None:
    """Every type of the list but those of a failure is told once in a day's work, and its data is of its schema."""
    assert set(DATA) == {*KINDS, TEST}
    made = await desk.add()
    await desk.app.write("How do I export?")
    await desk.app.wait(days=1)
    assert {"mail.received", "thread.opened", "thread.state_changed", "reply.sent"} <= set(desk.types())
    for post in desk.hook.posts:
        DATA[post.said["type"]].model_validate(post.said["data"])
    assert await change_endpoint(desk.app.app, made.endpoint.endpoint_id, kinds=("reply.rated",))
    many = len(desk.hook.posts)
    await desk.app.write("Thanks, and how do I import?", after="<m1@acme.example>")
    assert len(desk.hook.posts) == many
