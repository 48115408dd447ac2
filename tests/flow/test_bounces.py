"""Bounces and complaints find the mail of ours that they are about, tell its thread, and suppress the address."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.core.house import House
from services.tools.commands import suppressions
from tests.flow.conftest import Town
from tests.flow.scenario import agent, reflection, replies_to, rows, verified
from tests.support.scripted_replies import reply_tool

STATE = """SELECT d.state, t.state AS thread, d.recipient FROM deliveries d JOIN threads t USING (thread_id)
           WHERE d.recipient = %(addr)s"""
NOTED = """SELECT a.detail FROM thread_actions a JOIN deliveries d USING (thread_id)
           WHERE d.recipient = %(addr)s AND a.action = 'bounce noted'"""
SUPPRESSED = "SELECT reason FROM suppressions WHERE addr = %(addr)s"


async def our_reply_to(town: Town, name: str) -> tuple[str, str]:
    """Have a customer write and be answered; their address and our reply's Message-ID."""
    town.server.script(
        agent(
            lambda seen: reply_tool("reply", {"text": "Hi", "state": "awaiting_reply"}), lambda seen: reflection("S.")
        )
    )
    addr = f"{name}@reader.example"
    await town.post(verified("Where is it?", sender=f"Dan <{addr}>", message_id=f"<{name}1@reader.example>"))
    return addr, str(replies_to(town.stack.outbox, addr, town.domain)[0]["Message-ID"])


def dsn(town: Town, addr: str, message_id: str, action: str, status: str) -> bytes:
    """A delivery status notification to this town about one mail."""
    return report(town.domain, addr, message_id, action, status)


def report(domain: str, addr: str, message_id: str, action: str, status: str) -> bytes:
    """A delivery status notification (RFC 3464) about one mail."""
    fields = (
        f"Reporting-MTA: dns; mx.reader.example\n\nFinal-Recipient: rfc822; {addr}\nAction: {action}\n"
        f"Status: {status}\nDiagnostic-Code: smtp; 550 {status} it says so\n"
    )
    return _report(domain, "delivery-status", "message/delivery-status", fields, addr, message_id)


def complaint(town: Town, addr: str, message_id: str) -> bytes:
    """A feedback report (RFC 5965) about one mail."""
    fields = "Feedback-Type: abuse\nUser-Agent: Reader/1\nVersion: 1\n"
    return _report(town.domain, "feedback-report", "message/feedback-report", fields, addr, message_id)


def _report(domain: str, kind: str, content_type: str, fields: str, addr: str, message_id: str) -> bytes:
    ours = f"Message-ID: {message_id}\nFrom: support@{domain}\nTo: {addr}\nSubject: Re: A question\n"
    return (
        f"Return-Path: <>\nFrom: Mail Delivery System <MAILER-DAEMON@mx.reader.example>\nTo: support@{domain}\n"
        f"Subject: About your mail\nMessage-ID: <{zlib.crc32((fields + message_id).encode())}@mx.reader.example>\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/report; report-type={kind}; boundary="b"\n\n'
        f"--b\nContent-Type: text/plain\n\nSee below.\n"
        f"--b\nContent-Type: {content_type}\n\n{fields}\n"
        f"--b\nContent-Type: text/rfc822-headers\n\n{ours}\n--b--\n"
    ).encode()


async def test_a_hard_bounce_suppresses_the_address_and_calls_a_human(town: Town) -> None:
    """The reply is `bounced`, its thread escalated with what the server said, and nothing is written there again."""
    addr, message_id = await our_reply_to(town, "dan")
    await town.post(dsn(town, addr, message_id, "failed", "5.1.1"))
    assert await rows(town.house, STATE, addr=addr) == [{"state": "bounced", "thread": "escalated", "recipient": addr}]
    assert [row["reason"] for row in await rows(town.house, SUPPRESSED, addr=addr)] == ["hard"]
    assert "it says so" in (await rows(town.house, NOTED, addr=addr))[0]["detail"]

    await town.post(
        verified("Another matter.", sender=f"Dan <{addr}>", message_id="<dan2@reader.example>", subject="New")
    )
    assert len(replies_to(town.stack.outbox, addr, town.domain)) == 1
    ended = await rows(town.house, "SELECT u.outcome, u.reason FROM turns u JOIN mails m ON m.mail_id = ANY(u.mail_ids)"
                       " WHERE m.message_id = 'dan2@reader.example'")  # fmt: skip
    assert [row["outcome"] for row in ended] == ["failed"]
    assert "suppressed (hard)" in ended[0]["reason"]


@pytest.mark.parametrize(("name", "action", "status"), [("eve", "delayed", "4.4.1"), ("fay", "failed", "4.2.2")])
async def test_a_soft_bounce_is_noted_and_suppresses_nobody(town: Town, name: str, action: str, status: str) -> None:
    """A full mailbox or a slow server is told to the thread, and the reply counts as sent."""
    addr, message_id = await our_reply_to(town, name)
    await town.post(dsn(town, addr, message_id, action, status))
    assert [row["state"] for row in await rows(town.house, STATE, addr=addr)] == ["sent"]
    assert await rows(town.house, SUPPRESSED, addr=addr) == []
    assert len(await rows(town.house, NOTED, addr=addr)) == 1


async def test_a_suppression_is_listed_and_lifted_on_the_command_line(
    town: Town, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once lifted the address is written to again; a later bounce suppresses it anew; what is not suppressed is said."""

    @asynccontextmanager
    async def this_house(home: Path) -> AsyncIterator[House]:
        yield town.house

    monkeypatch.setattr(suppressions, "house_here", this_house)
    addr, message_id = await our_reply_to(town, "ida")
    await town.post(dsn(town, addr, message_id, "failed", "5.1.1"))
    await suppressions.show_list(Path())
    assert addr in capsys.readouterr().out

    await suppressions.lift_address(Path(), addr.upper(), reason="she called", by="grace")
    assert f"{addr} is written to again" in capsys.readouterr().out
    with pytest.raises(suppressions.NotSuppressed, match="suppressions list"):
        await suppressions.lift_address(Path(), addr, reason="", by="grace")
    await suppressions.show_list(Path())
    assert addr not in capsys.readouterr().out
    lifted = await rows(
        town.house, "SELECT lifted_by, lifted_because FROM suppressions WHERE addr = %(addr)s", addr=addr
    )
    assert lifted == [{"lifted_by": "grace", "lifted_because": "she called"}]

    await town.post(verified("Again.", sender=f"Ida <{addr}>", message_id="<ida2@reader.example>", subject="New"))
    first_reply, second_reply = replies_to(town.stack.outbox, addr, town.domain)
    assert first_reply["Message-ID"] == message_id
    await town.post(dsn(town, addr, str(second_reply["Message-ID"]), "failed", "5.1.1"))
    await suppressions.show_list(Path())
    assert addr in capsys.readouterr().out


async def test_a_report_suppresses_only_whom_the_mail_went_to(town: Town) -> None:
    """Whoever got a mail of ours can name its id: the address in the report is still not believed."""
    victim, _ = await our_reply_to(town, "joy")
    _, message_id = await our_reply_to(town, "kit")
    await town.post(dsn(town, victim, message_id, "failed", "5.1.1"))
    assert await rows(town.house, SUPPRESSED, addr=victim) == []
    assert [row["reason"] for row in await rows(town.house, SUPPRESSED, addr="kit@reader.example")] == ["hard"]


async def test_a_complaint_suppresses_the_address(town: Town) -> None:
    """Whoever calls our mail abuse gets no more of it."""
    addr, message_id = await our_reply_to(town, "gus")
    await town.post(complaint(town, addr, message_id))
    assert [row["thread"] for row in await rows(town.house, STATE, addr=addr)] == ["escalated"]
    assert [row["reason"] for row in await rows(town.house, SUPPRESSED, addr=addr)] == ["complaint"]


async def test_a_report_about_a_mail_that_is_not_ours_changes_nothing(town: Town) -> None:
    """Who does not know the Message-ID of a mail of ours can suppress nobody with a forged report."""
    addr, message_id = await our_reply_to(town, "hal")
    forged = f"<forged.{message_id.strip('<>')}>"
    await town.post(dsn(town, addr, forged, "failed", "5.1.1"), complaint(town, addr, forged))
    assert [row["state"] for row in await rows(town.house, STATE, addr=addr)] == ["sent"]
    assert await rows(town.house, SUPPRESSED, addr=addr) == []
