"""Providers post mail over HTTP: what is genuine comes in once, everything else is refused in words."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.app import App
from services.core.bus.publisher import LogUnavailable
from services.core.request_limits import LINGER, LINGER_TOO_LARGE
from services.core.settings import InboxSettings, S3Access, Settings, WebSettings
from services.core.web import AddressTaken, listen, make_app, run_edges, serve
from services.receive_email import EDGE
from services.receive_email.routes import routes
from services.receive_email.webhooks import FORMATS
from services.receive_email.webhooks.request import HttpsOutside
from tests.support import webhook_senders as senders
from tests.support.imap import eventually, letter, receiving_app, settings_for, stored
from tests.support.s3_server import running_s3
from tests.support.stack import fresh_database
from tests.support.webhook_senders import SENDERS, FakeNetwork, Post

LIMIT_MB = 1
FORMAT_NAMES = sorted(SENDERS)
SIGNED_WITHIN = ("mailgun", "ses", "ses_s3")  # nothing in the head says whose the call is
UNDATED = {"postmark", "postmark_path"}  # these carry no time that could be stale
STALE = [(name, timedelta(hours=2)) for name in FORMAT_NAMES if name not in UNDATED]
STALE += [(name, timedelta(hours=-2)) for name, _ in STALE if name != "sendgrid_oauth"]  # a token has no beginning


@pytest.fixture(scope="module")
async def app(stack: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    inboxes = tuple(InboxSettings(name=name, address=f"{name}@shop.example") for name in ("support", "billing"))
    with fresh_database(stack.database) as database:
        home, web = tmp_path_factory.mktemp("home"), senders.web_settings(max_body_mb=LIMIT_MB, port=0)
        settings = settings_for(stack, database, f"hooks-{home.name}.", home, inboxes=inboxes, web=web)
        async with receiving_app(settings) as opened:
            yield opened


@pytest.fixture
async def empty(app: App) -> App:
    """The module's deployment without events."""
    async with app.database.reading() as conn:
        await conn.execute("TRUNCATE events, receipts, webhook_requests")
    return app


@pytest.fixture
def network() -> FakeNetwork:
    return FakeNetwork()


@pytest.fixture
async def client(request: pytest.FixtureRequest, empty: App, network: FakeNetwork) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the deployment, which is open in the way that the test's `name` asks for."""
    way = request.node.callspec.params.get("name", "") if hasattr(request.node, "callspec") else ""
    async with client_of(with_web(empty, senders.web_settings(way, max_body_mb=LIMIT_MB)), network) as made:
        yield made


def client_of(app: App, network: FakeNetwork) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app, network)]), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://deployment")


def with_web(app: App, web: WebSettings) -> App:
    return replace(app, settings=app.settings.model_copy(update={"web": web}))


async def send(client: httpx.AsyncClient, post: Post, inbox: str = "support") -> httpx.Response:
    path = f"/inbound/{post.path}?inbox={inbox}"
    return await client.post(path, content=post.body, headers=post.headers)


def now() -> datetime:
    return datetime.now(UTC)


def forged(post: Post) -> Post:
    """The same call with another mail, or another signature where the mail is not signed."""
    if post.path == "mailgun":
        return replace(post, body=post.body.replace(b"signature=", b"signature=0"))
    if "Bearer" in post.headers.get("authorization", ""):
        return replace(post, headers=post.headers | {"authorization": post.headers["authorization"][:-1] + "!"})
    if post.path.startswith("postmark/"):
        return replace(post, path=post.path[:-1])
    if post.path == "postmark":
        return replace(post, headers=post.headers | {"authorization": "Basic cG9zdG1hcms6Z3Vlc3M="})
    if post.path == "ses":
        return replace(post, body=post.body.replace(b"sns", b"snt", 1).replace(b'"req-', b'"reg-'))
    return replace(post, body=post.body.replace(b"lamp", b"bomb"))


def test_every_format_has_a_sender() -> None:
    """No format is without these tests, in each of the ways that it has."""
    posts = [SENDERS[name](b"mail", "req-1", now()) for name in FORMAT_NAMES]
    assert {post.path.partition("/")[0] for post in posts} == set(FORMATS)
    assert {one.name for one in FORMATS.values() if not one.dated} == {"postmark", "sendgrid"}


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_a_genuine_mail_comes_in_once(name: str, client: httpx.AsyncClient, empty: App) -> None:
    """The raw bytes are stored as they were sent; the same call again is answered 2xx and makes no second event."""
    mail = letter(name)
    post = SENDERS[name](mail, "req-1", now())
    first, again = await send(client, post), await send(client, post)
    assert (first.status_code, first.json()["status"]) == (200, "accepted"), first.text
    assert (again.status_code, again.json()["status"]) == (200, "duplicate")
    assert again.json()["mail_id"] == first.json()["mail_id"]
    (event,) = await stored(empty)
    assert await empty.blobs.get(event.blob) == mail
    assert (event.source, event.mode, event.inbox, event.vouched_by) == ("webhook", "live", "support", "")


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_a_forged_call_is_refused(name: str, client: httpx.AsyncClient, empty: App) -> None:
    """Content, signature or password that do not belong together are 401, in JSON, and nothing is stored."""
    answer = await send(client, forged(SENDERS[name](letter(name), "req-1", now())))
    assert answer.status_code == 401, answer.text
    assert answer.json()["error"] == "signature_wrong"
    assert await stored(empty) == []


@pytest.mark.parametrize(("name", "late"), STALE)
async def test_a_stale_call_is_refused(name: str, late: timedelta, client: httpx.AsyncClient, empty: App) -> None:
    """A call signed too long ago, or for the future, is 401 however genuine it is."""
    answer = await send(client, SENDERS[name](letter(name), "req-1", now() - late))
    assert (answer.status_code, answer.json()["error"]) == (401, "timestamp_stale")
    assert await stored(empty) == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_a_call_of_long_ago_makes_no_second_event(name: str, client: httpx.AsyncClient, empty: App) -> None:
    """Weeks later, and after other calls have let old ids be forgotten, the same call is refused or a duplicate."""
    post = SENDERS[name](letter(name), "req-1", now())
    assert (await send(client, post)).status_code == 200
    async with empty.database.reading() as conn:
        await conn.execute("UPDATE webhook_requests SET seen_at = seen_at - interval '60 days'")
    later = replace(empty, now=lambda: now() + timedelta(days=60))
    async with client_of(with_web(later, senders.web_settings(name, max_body_mb=LIMIT_MB)), FakeNetwork()) as made:
        await send(made, senders.raw(letter("another"), "req-2", later.now()))
        answers = [await send(made, post, inbox=inbox) for inbox in ("support", "billing")]
    refused = [(401, "timestamp_stale")] * 2
    told = [(one.status_code, one.json().get("error") or one.json()["status"]) for one in answers]
    assert told == ([(200, "duplicate"), (409, "replayed")] if name in UNDATED else refused)
    assert len(await stored(empty)) == 2


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_a_replay_into_another_inbox_is_refused(name: str, client: httpx.AsyncClient, empty: App) -> None:
    """A signed call that was used for one inbox is 409 at another, whose name no signature covers."""
    post = SENDERS[name](letter(name), "req-1", now())
    await send(client, post)
    answer = await send(client, post, inbox="billing")
    assert (answer.status_code, answer.json()["error"]) == (409, "replayed")
    assert len(await stored(empty)) == 1


async def test_a_token_that_is_used_for_another_mail_is_refused(client: httpx.AsyncClient, empty: App) -> None:
    """Mailgun signs no content, so a captured token must not bring a mail of the attacker's."""
    at = now()
    await send(client, senders.mailgun(letter("genuine"), "token", at))
    answer = await send(client, senders.mailgun(letter("attacker"), "token", at))
    assert (answer.status_code, answer.json()["error"]) == (409, "replayed")
    assert len(await stored(empty)) == 1


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_an_oversized_mail_is_refused(name: str, client: httpx.AsyncClient, empty: App) -> None:
    """A mail over the limit is 413, signed or not."""
    post = SENDERS[name](letter(name, pad=LIMIT_MB * 1024 * 1024), "req-1", now())
    answer = await send(client, post)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert await stored(empty) == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_the_limit_comes_before_everything_else(name: str, client: httpx.AsyncClient) -> None:
    """A body without declared length is refused at the limit, before anyone looks for a signature in it."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"x" * 1024 * 1024

    post = SENDERS[name](b"mail", "req-1", now())
    answer = await client.post(f"/inbound/{post.path}?inbox=support", content=endless(), headers=post.headers)
    assert answer.status_code == 413
    assert sent <= 5 * LIMIT_MB + LINGER_TOO_LARGE.most_bytes // 2**20


@pytest.mark.parametrize("name", [name for name in FORMAT_NAMES if name not in SIGNED_WITHIN])
async def test_a_head_that_cannot_be_good_costs_little_of_a_body(name: str, client: httpx.AsyncClient) -> None:
    """Where the secret or the signature is in the head, a call without it is refused; its body is thrown away."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 1024

    path = SENDERS[name](b"mail", "req-1", now()).path.partition("/")[0]
    answer = await client.post(f"/inbound/{path}?inbox=support", content=endless())
    assert answer.status_code == 401
    assert 0 < sent <= LINGER.most_bytes // 1024 + 2


async def test_a_body_that_does_not_end_is_given_up(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sender that dribbles its body is answered 408 at the deadline, and holds nothing of ours."""
    monkeypatch.setattr(sys.modules[routes.__module__], "BODY_DEADLINE_S", 0.05)

    async def dribble() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)

    head = senders.raw(b"", "req-1", now()).headers
    answer = await client.post("/inbound/raw?inbox=support", content=dribble(), headers=head)
    assert (answer.status_code, answer.json()["error"]) == (408, "too_slow")


@pytest.mark.parametrize("name", FORMAT_NAMES)
@pytest.mark.parametrize("body", [b"", b"\x00\xff\xfe", b"{}", b"[" * 10_000, b"a=" + b"&a=" * 10_000])
async def test_garbage_is_refused(name: str, body: bytes, client: httpx.AsyncClient, empty: App) -> None:
    """No body makes the server fail: the answer is 4xx, in JSON."""
    for kind in ("application/json", "multipart/form-data; boundary=b", "multipart/form-data", "message/rfc822"):
        answer = await client.post(f"/inbound/{name}?inbox=support", content=body, headers={"content-type": kind})
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["error"]
    assert await stored(empty) == []


@pytest.mark.parametrize("name", FORMAT_NAMES)
async def test_a_format_without_secret_is_closed(name: str, empty: App) -> None:
    """An empty secret lets nobody in, a call signed with the empty secret least of all."""
    closed = replace(empty, settings=empty.settings.model_copy(update={"web": Settings().web}))
    transport = httpx.ASGITransport(make_app([routes(closed, FakeNetwork())]))
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment") as made:
        answer = await send(made, SENDERS[name](letter(name), "req-1", now()))
    assert (answer.status_code, answer.json()["error"]) == (403, "not_configured")
    assert "web." in answer.json()["message"]


async def test_an_unknown_inbox_or_format_is_refused(client: httpx.AsyncClient, empty: App) -> None:
    """404 says what is missing, and does not list our inboxes."""
    post = senders.raw(letter(1), "req-1", now())
    for inbox in ("", "nobody"):
        answer = await send(client, post, inbox=inbox)
        assert (answer.status_code, answer.json()["error"]) == (404, "inbox_unknown")
        assert "billing" not in answer.text
    assert (await send(client, replace(post, path="fax"))).json()["error"] == "format_unknown"
    assert await stored(empty) == []


async def test_a_mail_is_acknowledged_only_when_it_is_on_the_log(
    client: httpx.AsyncClient, empty: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the log is away the answer is 503; the provider's next attempt brings the mail, once."""

    async def refuse(_: object, records: Sequence[object]) -> list[LogUnavailable]:
        return [LogUnavailable() for _ in records]

    post = senders.raw(letter("log away"), "req-1", now())
    with monkeypatch.context() as patch:
        patch.setattr(type(empty.publisher), "publish_each", refuse)
        answer = await send(client, post)
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert (await send(client, post)).status_code == 200
    assert len(await stored(empty)) == 1


async def test_two_attempts_at_once_make_one_event(client: httpx.AsyncClient, empty: App) -> None:
    """Ten copies of one call, all at the same time, are one mail."""
    post = senders.raw(letter("burst"), "req-1", now())
    answers = await asyncio.gather(*(send(client, post) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["status"] for answer in answers) == ["accepted"] + ["duplicate"] * 9
    assert len(await stored(empty)) == 1


async def test_a_subscription_is_confirmed_for_our_topic_only(
    client: httpx.AsyncClient, network: FakeNetwork, empty: App
) -> None:
    """A signed confirmation of a pinned topic is followed; for another topic, or to another host, nothing is asked."""
    confirm = {"Type": "SubscriptionConfirmation", "Token": "t", "Message": "m", "SubscribeURL": senders.SUBSCRIBE_URL}
    answer = await send(client, senders.sns(now(), **confirm))
    assert (answer.status_code, answer.json()["status"]) == (200, "confirmed")
    assert network.asked == [senders.CERTIFICATE_URL, senders.SUBSCRIBE_URL]
    network.asked.clear()
    stranger = senders.sns(now(), **confirm | {"TopicArn": senders.ARN + "x"})
    assert (await send(client, stranger)).status_code == 401
    assert network.asked == []
    elsewhere = senders.sns(now(), **confirm | {"SubscribeURL": "https://sns.eu-west-1.amazonaws.com@evil.example/"})
    assert (await send(client, elsewhere)).status_code == 401
    assert network.asked == [senders.CERTIFICATE_URL]


@pytest.mark.parametrize(
    "url",
    [
        "http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-a.pem",
        "https://evil.example/sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-a.pem",
        "https://user@sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com/../bucket/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com/evil.pem",
        "https://[sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com/Simple\nNotificationService-a.pem",
        "https://sns.eu-west-1.amaz\tonaws.com/SimpleNotificationService-a.pem",
        "\x1fhttps://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem",
        "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-a.pem?\x7f",
    ],
)
async def test_certificates_come_from_amazon_only(url: str, client: httpx.AsyncClient, network: FakeNetwork) -> None:
    """A certificate's address that is not exactly Amazon's is not even asked for."""
    network.pages[url] = senders.certificate()
    answer = await send(client, senders.sns(now(), Message="{}", SigningCertURL=url))
    assert (answer.status_code, answer.json()["error"]) == (401, "signature_wrong")
    assert network.asked == []


@pytest.mark.parametrize("name", ["postmark", "ses"])
async def test_an_id_that_no_table_holds_was_our_fault_for_ever(name: str, client: httpx.AsyncClient) -> None:
    """It is refused in words, as what cannot be used; the provider would send the same call again for days."""
    answer = await send(client, SENDERS[name](letter("lamp"), "req-\x00", now()))
    assert (answer.status_code, answer.json()["error"]) == (422, "content_unusable")
    assert "cannot be stored" in answer.json()["message"]


async def test_a_sender_in_the_envelope_that_no_table_holds_kept_the_mail_out(
    client: httpx.AsyncClient, empty: App
) -> None:
    """The mail comes in; of the envelope is kept what can be."""
    content = base64.b64encode(letter("lamp")).decode()
    told = senders.notice(now(), {"type": "SNS", "encoding": "BASE64"}, content=content)
    answer = await send(client, senders.sns(now(), Message=told.replace("bounce@", "bou\\u0000nce@")))
    assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    (event,) = await stored(empty)
    assert event.peer.mail_from == "bou\ufffdnce@example.org"


async def test_sns_signatures_of_old_kinds_are_refused(client: httpx.AsyncClient, network: FakeNetwork) -> None:
    """SignatureVersion 1 (SHA-1), and a certificate that has run out, are not believed."""
    answer = await send(client, senders.sns(now(), Message="{}", SignatureVersion="1"))
    assert "SignatureVersion to 2" in answer.json()["message"]
    network.pages[senders.CERTIFICATE_URL] = senders.certificate(valid_for=-timedelta(days=1))
    answer = await send(client, senders.sns(now(), Message="{}"))
    assert "not valid now" in answer.json()["message"]


async def test_content_that_carries_no_raw_mail_is_explained(client: httpx.AsyncClient) -> None:
    """A provider set up without the raw message gets 422, with the box to tick."""
    at = now()
    empty_postmark = senders.postmark(b"", "req", at)
    assert "Include raw email content" in (await send(client, empty_postmark)).json()["message"]
    assert "end in `mime`" in (await send(client, senders.mailgun(b"", "req", at))).json()["message"]
    assert "full MIME" in (await send(client, senders.sendgrid(b"", "req", at))).json()["message"]
    notice = senders.sns(at, Message=senders.notice(at, {"type": "SNS", "encoding": "BASE64"}))
    assert "SNS action" in (await send(client, notice)).json()["message"]


async def test_mail_that_ses_stored_is_read_from_our_buckets_only(
    client: httpx.AsyncClient, network: FakeNetwork, empty: App
) -> None:
    """A bucket of the settings is asked, in the topic's region; another one never, whatever Amazon signed."""
    assert (await send(client, senders.ses_s3(letter("large"), "req-1", now()))).status_code == 200
    assert network.asked[1:] == [f"s3://{senders.BUCKET}/inbound/req-1 in eu-west-1"]
    network.asked.clear()
    answer = await send(client, senders.ses_s3(letter("theirs"), "req-2", now(), bucket="somebody-elses"))
    assert (answer.status_code, answer.json()["error"]) == (401, "signature_wrong")
    assert network.asked == [senders.CERTIFICATE_URL]
    assert len(await stored(empty)) == 1


async def test_a_stored_mail_comes_over_s3_itself(empty: App) -> None:
    """The object is fetched with signed requests; one that is not there yet is 503, for SNS to try again."""
    mail = letter("s3", pad=200_000)
    post = senders.ses_s3(mail, "req-1", now())
    with running_s3() as server:
        web = senders.web_settings()
        hooks = web.webhooks.model_copy(update={"ses_s3": server.access(region="")})
        network = S3Network()
        async with client_of(with_web(empty, web.model_copy(update={"webhooks": hooks})), network) as made:
            assert (await send(made, post)).status_code == 503
            server.objects[f"/{senders.BUCKET}/inbound/req-1"] = mail
            assert (await send(made, post)).json()["status"] == "accepted"
    (event,) = await stored(empty)
    assert await empty.blobs.get(event.blob) == mail


class S3Network(FakeNetwork):
    """The fake network, but with real buckets."""

    async def stored(self, bucket: str, key: str, access: S3Access, most: int) -> bytes | None:
        return await HttpsOutside().stored(bucket, key, access, most)


@pytest.mark.parametrize("way", ["basic", "form"])
async def test_a_provider_gets_a_token_and_posts_with_it(way: str, empty: App) -> None:
    """Client credentials, said either way, give a token that opens the webhook; the answer is not to be cached."""
    app = with_web(empty, senders.web_settings("sendgrid_oauth"))
    login = {"client_id": "sendgrid", "client_secret": senders.CLIENT_SECRET}
    async with client_of(app, FakeNetwork()) as made:
        asked = await made.post(
            "/inbound/oauth/token",
            data={"grant_type": "client_credentials"} | (login if way == "form" else {}),
            auth=("sendgrid", senders.CLIENT_SECRET) if way == "basic" else None,
        )
        assert (asked.status_code, asked.json()["token_type"]) == (200, "Bearer"), asked.text
        assert asked.headers["cache-control"] == "no-store"
        post = senders.sendgrid_oauth(letter("oauth"), "req-1", now())
        token = {"authorization": f"Bearer {asked.json()['access_token']}"}
        assert (await send(made, replace(post, headers=post.headers | token))).status_code == 200


async def test_whoever_is_not_the_client_gets_no_token(empty: App) -> None:
    """A wrong secret, another grant, a large body, and a deployment without a client are refused, in OAuth's own words."""
    credentials, good = {"grant_type": "client_credentials"}, ("sendgrid", senders.CLIENT_SECRET)
    async with client_of(with_web(empty, senders.web_settings("sendgrid_oauth")), FakeNetwork()) as made:
        wrong = await made.post("/inbound/oauth/token", data=credentials, auth=("sendgrid", "guessed"))
        other = await made.post("/inbound/oauth/token", data={"grant_type": "password"}, auth=good)
        large = await made.post("/inbound/oauth/token", data=credentials | {"x": "y" * 10_000}, auth=good)
    async with client_of(with_web(empty, senders.web_settings()), FakeNetwork()) as made:
        closed = await made.post("/inbound/oauth/token", data=credentials, auth=("sendgrid", ""))
    told = [(one.status_code, one.json()["error"]) for one in (wrong, other, large, closed)]
    assert told == [
        (401, "invalid_client"), (400, "unsupported_grant_type"), (413, "too_large"), (403, "not_configured"),
    ]  # fmt: skip


async def test_signature_and_token_are_both_asked_for_where_both_are_set(empty: App) -> None:
    """A security policy with both is as strong as both: either alone is refused."""
    web = senders.web_settings()
    hooks = web.webhooks.model_copy(update={"sendgrid_client_secret": SecretStr(senders.CLIENT_SECRET)})
    signed, with_token = (
        sender(letter("both"), "req-1", now()) for sender in (senders.sendgrid, senders.sendgrid_oauth)
    )
    async with client_of(with_web(empty, web.model_copy(update={"webhooks": hooks})), FakeNetwork()) as made:
        assert [(await send(made, one)).status_code for one in (signed, with_token)] == [401, 401]
        both = replace(signed, headers=with_token.headers | signed.headers)
        assert (await send(made, both)).status_code == 200


async def test_only_a_format_with_a_secret_path_has_one(client: httpx.AsyncClient) -> None:
    """Anything after another format's name is 404."""
    post = senders.raw(letter(1), "req-1", now())
    assert (await send(client, replace(post, path="raw/x"))).json()["error"] == "format_unknown"


async def test_the_edge_serves_and_stops(empty: App) -> None:
    """`run_edges` opens the port, takes a mail over real HTTP, refuses a second server there, and ends when told to."""
    web = empty.settings.web.model_copy(update={"port": free_port()})
    app = replace(empty, settings=empty.settings.model_copy(update={"web": web}))
    stop = asyncio.Event()
    work = asyncio.create_task(run_edges(app, [EDGE], stop))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{web.port}") as made:
        await eventually(lambda: healthy(made), "the server answered")
        with pytest.raises(AddressTaken, match="cannot listen"):
            listen(web)
        assert (await send(made, senders.raw(letter("http"), "req-1", now()))).status_code == 200
        big = await send(made, senders.raw(letter("big", pad=2 * 1024 * 1024), "req-2", now()))
        assert big.status_code == 413
    stop.set()
    await asyncio.wait_for(work, 120)
    assert len(await stored(empty)) == 1


WORKER_CALL = """
import { readFileSync } from "node:fs";
const raw = new Blob([readFileSync(process.env.MAIL_FILE)]).stream();
const message = { raw, setReject(reason) { console.log("rejected: " + reason); } };
await worker.email(message, process.env);
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which runs the worker of the documentation, is absent")
async def test_the_worker_of_the_documentation_brings_a_mail(empty: App, tmp_path: Path) -> None:
    """The JavaScript that docs/how-to shows is accepted as it stands there, and tells a sender of too large a mail."""
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "connect-an-inbox.md").read_text(encoding="utf-8")
    worker = text.split("```js\n")[1].split("```")[0].replace("export default", "const worker =")
    (tmp_path / "worker.mjs").write_text(worker + WORKER_CALL, encoding="utf-8")
    web = empty.settings.web.model_copy(update={"port": free_port()})
    stop = asyncio.Event()
    work = asyncio.create_task(serve(make_app([routes(empty)]), listen(web), stop))
    said = []
    for mail in (letter("worker", body="Grüße"), letter("big", pad=2 * 1024 * 1024)):
        environment = {
            "CORRESPONDENT_URL": f"http://127.0.0.1:{web.port}",
            "INBOX": "support",
            "SECRET": senders.OTHER_SECRET,
            "MAIL_FILE": str(tmp_path / "mail"),
            "PATH": os.environ["PATH"],
        }
        (tmp_path / "mail").write_bytes(mail)
        process = await asyncio.create_subprocess_exec(
            "node", str(tmp_path / "worker.mjs"), env=environment, stdout=PIPE, stderr=PIPE
        )
        out, err = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode == 0, err.decode()
        said.append(out.decode().strip())
    stop.set()
    await asyncio.wait_for(work, 120)
    assert said == ["", "rejected: The message is too large."]
    (event,) = await stored(empty)
    assert await empty.blobs.get(event.blob) == letter("worker", body="Grüße")


async def healthy(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/healthz")).json() == {"status": "ok"}
    except httpx.TransportError:
        return False
