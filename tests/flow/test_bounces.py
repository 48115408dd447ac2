"""Bounces and complaints find the mail of ours that they are about, tell its thread, and suppress the address."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import EmailMessage
from pathlib import Path

import pytest

from services.cli import suppressions
from services.core.app import App
from services.operations.deliveries import NotSuppressed
from tests.flow.conftest import Town
from tests.flow.scenario import AUTHSERV, agent, reflection, replies_to, rows, verified
from tests.support.scripted_replies import reply_tool

STATE = """SELECT d.state, t.state AS thread, d.recipient FROM deliveries d JOIN threads t USING (thread_id)
           WHERE d.recipient = %(addr)s"""
NOTED = """SELECT a.detail FROM thread_actions a JOIN deliveries d USING (thread_id)
           WHERE d.recipient = %(addr)s AND a.action = 'bounce noted'"""
MX = "MAILER-DAEMON@mx.reader.example"
ABOUT = """SELECT d.state, t.state AS thread, a.version FROM deliveries d JOIN threads t USING (thread_id)
           JOIN aggregates a ON a.kind = 'thread' AND a.id = t.thread_id WHERE d.recipient = %(addr)s"""
SUPPRESSED = "SELECT reason FROM suppressions WHERE addr = %(addr)s"


async def our_reply_to(town: Town, name: str) -> tuple[str, EmailMessage]:
    """Have a customer write and be answered; their address and our reply."""
    town.server.script(
        agent(
            lambda seen: reply_tool("reply", {"text": "Hi", "state": "awaiting_reply"}), lambda seen: reflection("S.")
        )
    )
    addr = f"{name}@reader.example"
    await town.post(verified("Where is it?", sender=f"Dan <{addr}>", message_id=f"<{name}1@reader.example>"))
    return addr, replies_to(town.stack.outbox, addr, town.domain)[0]


def returned(ours: EmailMessage) -> str:
    """The headers of a mail of ours, as a mail system gives them back."""
    kept = ("Message-ID", "From", "To", "Subject", "X-Report-Token")
    return "".join(f"{name}: {ours[name]}\n" for name in kept)


def known_by_id(ours: EmailMessage) -> str:
    """What somebody has of a mail of ours who was sent an answer to it: its Message-ID, and whom it went to."""
    return "".join(f"{name}: {ours[name]}\n" for name in ("Message-ID", "From", "To", "Subject"))


def dsn(town: Town, addr: str, headers: str, action: str, status: str, *, sender: str = MX) -> bytes:
    """A delivery status notification to this town about one mail."""
    return report(town.domain, addr, headers, action, status, sender=sender)


def report(domain: str, addr: str, headers: str, action: str, status: str, *, sender: str = MX) -> bytes:
    """A delivery status notification (RFC 3464) about one mail, of which it gives `headers` back."""
    fields = (
        f"Reporting-MTA: dns; mx.reader.example\n\nFinal-Recipient: rfc822; {addr}\nAction: {action}\n"
        f"Status: {status}\nDiagnostic-Code: smtp; 550 {status} it says so\n"
    )
    return _report(domain, "delivery-status", "message/delivery-status", fields, headers, sender)


def complaint(town: Town, headers: str) -> bytes:
    """A feedback report (RFC 5965) about one mail."""
    fields = "Feedback-Type: abuse\nUser-Agent: Reader/1\nVersion: 1\n"
    return _report(town.domain, "feedback-report", "message/feedback-report", fields, headers, MX)


def _report(domain: str, kind: str, content_type: str, fields: str, headers: str, sender: str) -> bytes:
    proof = (
        f"Authentication-Results: {AUTHSERV}; dmarc=pass header.from={sender.partition('@')[2]}\n"
        if sender != MX
        else ""
    )
    return (
        f"{proof}Return-Path: <>\nFrom: Mail Delivery System <{sender}>\nTo: support@{domain}\n"
        f"Subject: About your mail\nMessage-ID: <{zlib.crc32((fields + headers + sender).encode())}@mx.reader.example>\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/report; report-type={kind}; boundary="b"\n\n'
        f"--b\nContent-Type: text/plain\n\nSee below.\n"
        f"--b\nContent-Type: {content_type}\n\n{fields}\n"
        f"--b\nContent-Type: text/rfc822-headers\n\n{headers}\n--b--\n"
    ).encode()


async def test_a_hard_bounce_suppresses_the_address_and_calls_a_human(town: Town) -> None:
    """The reply is `bounced`, its thread escalated with what the server said, and nothing is written there again."""
    addr, ours = await our_reply_to(town, "dan")
    await town.post(dsn(town, addr, returned(ours), "failed", "5.1.1"))
    assert await rows(town.app, STATE, addr=addr) == [{"state": "bounced", "thread": "escalated", "recipient": addr}]
    assert [row["reason"] for row in await rows(town.app, SUPPRESSED, addr=addr)] == ["hard"]
    assert "it says so" in (await rows(town.app, NOTED, addr=addr))[0]["detail"]

    await town.post(
        verified("Another matter.", sender=f"Dan <{addr}>", message_id="<dan2@reader.example>", subject="New")
    )
    assert len(replies_to(town.stack.outbox, addr, town.domain)) == 1
    ended = await rows(town.app, "SELECT u.outcome, u.reason FROM turns u JOIN mails m ON m.mail_id = ANY(u.mail_ids)"
                       " WHERE m.message_id = 'dan2@reader.example'")  # fmt: skip
    assert [row["outcome"] for row in ended] == ["failed"]
    assert "suppressed (hard)" in ended[0]["reason"]


@pytest.mark.parametrize(("name", "action", "status"), [("eve", "delayed", "4.4.1"), ("fay", "failed", "4.2.2")])
async def test_a_soft_bounce_is_noted_and_suppresses_nobody(town: Town, name: str, action: str, status: str) -> None:
    """A full mailbox or a slow server is told to the thread, and the reply counts as sent."""
    addr, ours = await our_reply_to(town, name)
    await town.post(dsn(town, addr, returned(ours), action, status))
    assert [row["state"] for row in await rows(town.app, STATE, addr=addr)] == ["sent"]
    assert await rows(town.app, SUPPRESSED, addr=addr) == []
    assert len(await rows(town.app, NOTED, addr=addr)) == 1


async def test_a_suppression_is_listed_and_lifted_on_the_command_line(
    town: Town, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once lifted the address is written to again; a later bounce suppresses it anew; what is not suppressed is said."""

    @asynccontextmanager
    async def this_app(home: Path, **_: object) -> AsyncIterator[App]:
        yield town.app

    monkeypatch.setattr(suppressions, "app_here", this_app)
    addr, ours = await our_reply_to(town, "ida")
    await town.post(dsn(town, addr, returned(ours), "failed", "5.1.1"))
    await suppressions.show_list(Path())
    assert addr in capsys.readouterr().out

    await suppressions.lift_address(Path(), addr.upper(), reason="she called", by="grace")
    assert f"{addr} is written to again" in capsys.readouterr().out
    with pytest.raises(NotSuppressed, match="suppressions list"):
        await suppressions.lift_address(Path(), addr, reason="", by="grace")
    await suppressions.show_list(Path())
    assert addr not in capsys.readouterr().out
    lifted = await rows(town.app, "SELECT lifted_by, lifted_because FROM suppressions WHERE addr = %(addr)s", addr=addr)
    assert lifted == [{"lifted_by": "grace", "lifted_because": "she called"}]

    await town.post(verified("Again.", sender=f"Ida <{addr}>", message_id="<ida2@reader.example>", subject="New"))
    first_reply, second_reply = replies_to(town.stack.outbox, addr, town.domain)
    assert first_reply["Message-ID"] == ours["Message-ID"]
    await town.post(dsn(town, addr, returned(second_reply), "failed", "5.1.1"))
    await suppressions.show_list(Path())
    assert addr in capsys.readouterr().out


async def test_a_report_suppresses_only_whom_the_mail_went_to(town: Town) -> None:
    """Whoever got a mail of ours can name its id: another address in the report is not believed, nor theirs punished."""
    victim, _ = await our_reply_to(town, "joy")
    _, ours = await our_reply_to(town, "kit")
    await town.post(dsn(town, victim, returned(ours), "failed", "5.1.1"))
    assert await rows(town.app, SUPPRESSED, addr=victim) == []
    assert await rows(town.app, SUPPRESSED, addr="kit@reader.example") == []


async def test_a_complaint_suppresses_the_address(town: Town) -> None:
    """Whoever calls our mail abuse gets no more of it."""
    addr, ours = await our_reply_to(town, "gus")
    await town.post(complaint(town, returned(ours)))
    assert [row["thread"] for row in await rows(town.app, STATE, addr=addr)] == ["escalated"]
    assert [row["reason"] for row in await rows(town.app, SUPPRESSED, addr=addr)] == ["complaint"]


async def test_a_report_about_a_mail_that_is_not_ours_changes_nothing(town: Town) -> None:
    """Who does not know the Message-ID of a mail of ours can suppress nobody with a forged report."""
    addr, ours = await our_reply_to(town, "hal")
    forged = returned(ours).replace("Message-ID: <", "Message-ID: <forged.")
    await town.post(dsn(town, addr, forged, "failed", "5.1.1"), complaint(town, forged))
    assert [row["state"] for row in await rows(town.app, STATE, addr=addr)] == ["sent"]
    assert await rows(town.app, SUPPRESSED, addr=addr) == []


async def test_a_forged_bounce_suppressed_the_recipient_of_a_mail_whose_id_its_sender_knew(town: Town) -> None:
    """A report that only names a mail of ours changes nothing about it: a person decides, in a thread of its own."""
    addr, ours = await our_reply_to(town, "lea")
    before = await rows(town.app, ABOUT, addr=addr)
    colleague, below = "postmaster.ann@reader.example", "mailer-daemon@lea.reader.example"
    forged = [
        dsn(town, addr, known_by_id(ours), "failed", "5.1.1"),
        dsn(town, addr, known_by_id(ours) + "X-Report-Token: aaaaaaaaaaaaaaaa\n", "failed", "5.1.1"),
        dsn(town, addr, known_by_id(ours), "failed", "5.1.1", sender=colleague),
        dsn(town, addr, known_by_id(ours), "failed", "5.1.1", sender=below),
        dsn(town, addr, known_by_id(ours), "delayed", "4.4.1"),
        complaint(town, known_by_id(ours)),
    ]
    await town.post(*forged)
    assert await rows(town.app, SUPPRESSED, addr=addr) == []
    assert await rows(town.app, ABOUT, addr=addr) == before
    judged = await rows(town.app, "SELECT verdict FROM mails WHERE author_written ILIKE '%%daemon@%%reader.example'"
                        " AND subject = 'About your mail' AND message_id = ANY(%(ids)s)", ids=_ids(forged))  # fmt: skip
    assert sorted(row["verdict"] for row in judged) == ["human", "human", "human", "human", "park"]

    await town.post(
        verified(
            "And now?", sender=f"Lea <{addr}>", message_id="<lea2@reader.example>", In_Reply_To=str(ours["Message-ID"])
        )
    )
    assert len(replies_to(town.stack.outbox, addr, town.domain)) == 2


async def test_the_mail_system_of_the_recipients_own_domain_is_believed(town: Town) -> None:
    """A proven mailer-daemon or postmaster of exactly that domain needs no token."""
    addr, ours = await our_reply_to(town, "mia")
    await town.post(dsn(town, addr, known_by_id(ours), "failed", "5.1.1", sender="postmaster@reader.example"))
    assert [row["reason"] for row in await rows(town.app, SUPPRESSED, addr=addr)] == ["hard"]


def _ids(mails: list[bytes]) -> list[str]:
    return [str(message_from_bytes(one)["Message-ID"]).strip("<>") for one in mails]
