"""What an inbox's own settings do to its replies: rate, server, signature."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.local import Endpoints
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.core.house import House
from services.receive_email.accept import accept
from services.tools.demo.clock import SteppingClock
from services.tools.settle import settle
from tests.support.house import INBOX, running_house, settings_for
from tests.support.letters import letter
from tests.support.smtp_server import Session, SmtpServer, Step

LEDGER = "SELECT state, detail, recipient, attempt, departs_at FROM deliveries ORDER BY recipient"


async def ask(house: House, *people: str) -> None:
    """Each of the people asks the first inbox something."""
    for person in people:
        mail_id = f"<{zlib.crc32(person.encode())}@ask.example>"
        raw = letter("What does the Team plan cost?", sender="Pat <WHO@WHERE>", message_id=mail_id)
        raw = raw.replace(b"WHO@WHERE", person.encode())  # EmailMessage writes no UTF-8 addresses
        await accept(house, house.settings.inboxes[0], raw, source="file", source_key=person)
    await settle(house)


async def ledger(house: House) -> list[dict[str, Any]]:
    async with house.database.reading() as conn:
        return await fetch_all(conn, LEDGER)


def inbox(**changes: Any) -> dict[str, Any]:
    return {**INBOX, "vouched_by": "the test", **changes}


async def test_what_is_over_the_rate_waits_and_leaves_in_a_later_hour(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Seven replies at three an hour: three leave at once, three after an hour, one after two; each once."""
    clock = SteppingClock(utc_now())
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp=smtp, replies_per_hour=3)])
        async with running_house(settings, now=clock) as house:
            await ask(house, *(f"pat{number}@rate.example" for number in range(7)))
            left = [len(server.accepted)]
            waiting = [row for row in await ledger(house) if row["state"] == "approved"]
            for _ in range(2):
                clock.forward(clock() + timedelta(minutes=61))
                await settle(house)
                left.append(len(server.accepted))
            rows = await ledger(house)
    assert left == [3, 6, 7]
    assert {row["detail"] for row in waiting} == {"support sends at most 3 replies an hour"}
    assert set(server.copies().values()) == {1}
    assert {(row["state"], row["attempt"]) for row in rows} == {("sent", 1)}


async def test_an_inbox_sends_through_its_own_server(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """`inboxes.smtp` comes before the house's `smtp`, which nobody answers here."""
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            smtp={"host": "127.0.0.1", "port": 1},
            inboxes=[inbox(smtp={"host": "127.0.0.1", "port": server.port})],
        )  # fmt: skip
        async with running_house(settings) as house:
            await ask(house, "own@server.example")
    assert [one.recipient for one in server.accepted] == ["own@server.example"]


async def test_a_reply_is_signed_with_the_inboxs_key(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """What the server gets carries a signature that holds against the public key, as sent."""
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key").write_bytes(base64.b64encode(key.private_bytes_raw()) + b"\n")
    signing = {"domain": "ourcompany.example", "selector": "s1", "key_file": str(tmp_path / "key")}
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            inboxes=[inbox(smtp={"port": server.port}, dkim={**signing, "algorithm": "ed25519"})],
        )  # fmt: skip
        async with running_house(settings) as house:
            await ask(house, "signed@reader.example")
    record = b"v=DKIM1; k=ed25519; p=" + base64.b64encode(key.public_key().public_bytes_raw())
    asked: list[bytes] = []

    def published(name: bytes, timeout: float = 0) -> bytes:
        asked.append(name)
        return record

    assert dkim.verify(server.accepted[0].raw, dnsfunc=published)
    assert asked == [b"s1._domainkey.ourcompany.example."]


@pytest.mark.parametrize("offered", [True, False])
async def test_a_utf8_address_is_written_to_only_where_the_server_offers_it(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, offered: bool
) -> None:
    """With SMTPUTF8 the reply goes out; without, it fails with the reason and a human is called, and DATA never comes."""

    def script(session: Session, step: Step) -> str | None:
        return "250-test.example\r\n250 8BITMIME" if step == "ehlo" and not offered else None

    async with SmtpServer(script) as server:
        settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[inbox(smtp={"port": server.port})])
        async with running_house(settings) as house:
            await ask(house, "jürgen@utf8.example")
            rows = await ledger(house)
            async with house.database.reading() as conn:
                threads = await fetch_all(conn, "SELECT state FROM threads")
    assert Counter(row["state"] for row in rows) == {"sent" if offered else "failed": 1}
    assert len(server.accepted) == server.steps["data"] == int(offered)
    assert offered or "SMTPUTF8" in rows[0]["detail"]
    assert offered or threads[0]["state"] == "escalated"
