"""What an inbox's own settings do to its replies: rate, server, signature."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from deploy.local import Endpoints
from services.core.app import App
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.demo.clock import SteppingClock
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.test_bounces import report, returned
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import opened_brokerless, running_brokerless, working_brokerless
from tests.support.letters import letter
from tests.support.smtp_server import Session, SmtpServer, Step

LEDGER = "SELECT state, detail, recipient, attempt, departs_at FROM deliveries ORDER BY recipient"


async def ask(app: App, *people: str, at: int = 0) -> None:
    """Each of the people asks an inbox something."""
    for person in people:
        mail_id = f"<{zlib.crc32(person.encode())}@ask.example>"
        raw = letter("What does the Team plan cost?", sender="Pat <WHO@WHERE>", message_id=mail_id)
        raw = raw.replace(b"WHO@WHERE", person.encode())  # EmailMessage writes no UTF-8 addresses
        await accept(app, app.settings.inboxes[at], raw, source="file", source_key=person)
    await until_idle(app)


async def ledger(app: App) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, LEDGER)


async def threads(app: App) -> list[str]:
    """The states of all threads."""
    async with app.database.reading() as conn:
        return [row["state"] for row in await fetch_all(conn, "SELECT state FROM threads")]


def inbox(**changes: Any) -> dict[str, Any]:
    return {**INBOX, "vouched_by": "the test", **changes}


async def test_what_is_over_the_rate_waits_and_leaves_in_a_later_hour(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Seven replies at three an hour, two senders at work: three leave at once, three after an hour, one after two."""
    clock = SteppingClock(utc_now())
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp=smtp, replies_per_hour=3)])
        async with (
            running_brokerless(settings, now=clock) as app,
            opened_brokerless(settings, now=clock) as other,
            working_brokerless(other, ["send_email"]),
        ):
            await ask(app, *(f"pat{number}@rate.example" for number in range(7)))
            left = [len(server.accepted)]
            waiting = [row for row in await ledger(app) if row["state"] == "approved"]
            for _ in range(2):
                clock.forward(clock() + timedelta(minutes=61))
                await until_idle(app)
                left.append(len(server.accepted))
            rows = await ledger(app)
    assert left == [3, 6, 7]
    assert {row["detail"] for row in waiting} == {"support sends at most 3 replies an hour"}
    assert set(server.copies().values()) == {1}
    assert {(row["state"], row["attempt"]) for row in rows} == {("sent", 1)}


async def test_a_waiting_reply_to_an_address_that_bounced_meanwhile_is_not_sent(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The list is looked at once more before DATA: the reply fails in words, and a human is called."""
    clock = SteppingClock(utc_now())
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp=smtp, replies_per_hour=1)])
        async with running_brokerless(settings, now=clock) as app:
            await ask(app, "pat@bounces.example")
            again = letter("Another matter: when are you open?", sender="Pat <pat@bounces.example>",
                           message_id="<again@ask.example>", subject="Opening hours")  # fmt: skip
            ours = message_from_bytes(server.accepted[0].raw, policy=default)
            assert isinstance(ours, EmailMessage)
            bounce = report("ourcompany.example", "pat@bounces.example", returned(ours), "failed", "5.1.1")
            for raw in (again, bounce):
                await accept(app, settings.inboxes[0], raw, source="file", source_key=str(zlib.crc32(raw)))
                await until_idle(app)
            clock.forward(clock() + timedelta(minutes=61))
            await until_idle(app)
            rows = await ledger(app)
            assert await threads(app) == ["escalated", "escalated"]
    assert len(server.accepted) == server.steps["data"] == 1
    assert Counter(row["state"] for row in rows) == {"bounced": 1, "failed": 1}
    assert any("is suppressed (hard)" in row["detail"] for row in rows)


async def test_an_inbox_sends_through_its_own_server(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """`inboxes.smtp` comes before the deployment's `smtp`, which nobody answers here."""
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            smtp={"host": "127.0.0.1", "port": 1},
            inboxes=[inbox(smtp={"host": "127.0.0.1", "port": server.port})],
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            await ask(app, "own@server.example")
    assert [one.recipient for one in server.accepted] == ["own@server.example"]


def keys() -> dict[str, tuple[bytes, bytes]]:
    """By algorithm: the private key as its file holds it, and the record that DNS holds."""
    ed, rsa = Ed25519PrivateKey.generate(), generate_private_key(65537, 2048)
    pem = rsa.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    spki = rsa.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return {
        "ed25519": (
            base64.b64encode(ed.private_bytes_raw()) + b"\n",
            b"v=DKIM1; k=ed25519; p=" + base64.b64encode(ed.public_key().public_bytes_raw()),
        ),
        "rsa": (pem, b"v=DKIM1; k=rsa; p=" + base64.b64encode(spki)),
    }


async def test_a_reply_is_signed_with_the_inboxs_key(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """What the server gets carries a signature, rsa or ed25519, that dkimpy verifies by the key in DNS, also in UTF-8."""
    pairs = keys()
    for algorithm, (private, _) in pairs.items():
        (tmp_path / algorithm).write_bytes(private)
    async with SmtpServer() as server:
        inboxes = [
            inbox(
                name=algorithm,
                address=f"{algorithm}@ourcompany.example",
                smtp={"port": server.port},
                dkim={
                    "domain": "ourcompany.example",
                    "selector": algorithm,
                    "key_file": str(tmp_path / algorithm),
                    "algorithm": algorithm,
                },
            )
            for algorithm in pairs
        ]
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=inboxes)
        async with running_brokerless(settings) as app:
            for at, algorithm in enumerate(pairs):
                await ask(app, f"pat@{algorithm}.example", f"jürgen@{algorithm}.example", at=at)
    records = {f"{name}._domainkey.ourcompany.example.".encode(): record for name, (_, record) in pairs.items()}
    assert len(server.accepted) == 4
    for kept in server.accepted:
        assert dkim.verify(kept.raw, dnsfunc=lambda name, timeout=0: records.get(name))
        assert f"a={kept.recipient.partition('@')[2].partition('.')[0]}-sha256".encode() in kept.raw
        forged = kept.raw.replace(b"Subject: ", b"Subject: Not ")
        assert not dkim.verify(forged, dnsfunc=lambda name, timeout=0: records.get(name))


async def test_a_key_that_cannot_be_read_sends_nothing_unsigned(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The reply fails with the setting's name, and a human is called."""
    signing = {"domain": "ourcompany.example", "selector": "s1", "key_file": str(tmp_path / "gone")}
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp={"port": server.port}, dkim=signing)]
        )
        async with running_brokerless(settings) as app:
            await ask(app, "pat@unsigned.example")
            (row,) = await ledger(app)
            assert await threads(app) == ["escalated"]
    assert row["state"] == "failed"
    assert "inboxes.dkim.key_file" in row["detail"]
    assert server.accepted == []


ASCII, IDNA, UTF8, BOTH = "pat@plain.example", "pat@straße.example", "jürgen@plain.example", "grå@exämple.example"


@pytest.mark.parametrize(("offered", "fail"), [(True, set()), (False, {UTF8, "grå@xn--exmple-cua.example"})])
async def test_a_utf8_address_is_written_to_only_where_the_server_offers_it(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, offered: bool, fail: set[str]
) -> None:
    """A domain goes as A-labels anywhere; a UTF-8 local part without SMTPUTF8 fails in words, before DATA."""

    def script(session: Session, step: Step) -> str | None:
        return "250-test.example\r\n250 8BITMIME" if step == "ehlo" and not offered else None

    async with SmtpServer(script) as server:
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp={"port": server.port})])
        async with running_brokerless(settings) as app:
            await ask(app, ASCII, IDNA, UTF8, BOTH)
            rows = await ledger(app)
            states = await threads(app)
    everybody = {ASCII, "pat@xn--strae-oqa.example", UTF8, "grå@xn--exmple-cua.example"}
    assert {row["recipient"] for row in rows} == everybody
    assert {row["recipient"] for row in rows if row["state"] == "failed"} == fail
    assert {one.recipient for one in server.accepted} == everybody - fail
    assert server.steps["data"] == len(everybody - fail)
    assert all("SMTPUTF8" in row["detail"] for row in rows if row["state"] == "failed")
    assert states.count("escalated") == len(fail)
