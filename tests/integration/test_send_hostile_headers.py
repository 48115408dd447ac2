"""What hostile headers become on their way through the deployment: the SMTP server's own bytes are read again, by hand.

Python 3.11's library fails these tables: it decodes an encoded line feed into a header (CVE-2024-6923) and reads
`alice@a.example<bob@b.example>` as Alice (CVE-2023-27043).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.db import fetch_all
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.smtp_server import Kept, SmtpServer

OURS = [
    "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
    "X-Auto-Response-Suppress", "X-Report-Token", "MIME-Version", "Content-Type",
]  # fmt: skip
BCC = "Bcc: eve@evil.example"
B64_BCC = "=?utf-8?b?SGkKQmNjOiBldmVAZXZpbC5leGFtcGxl?="
HEADERS = {
    "plain": "",
    "subject-q-lf": "Subject: =?utf-8?q?Hi=0ABcc=3A_eve=40evil=2Eexample?=",
    "subject-q-crlf": "Subject: =?utf-8?q?Hi=0D=0ABcc=3A_eve=40evil=2Eexample?= and more",
    "subject-b-lf": f"Subject: {B64_BCC}",
    "subject-twice-encoded": "Subject: =?utf-8?q?=3D=3Futf-8=3Fq=3FHi=3D0ABcc=3A_e=40e=3F=3D?=",
    "subject-blank-line": "Subject: =?utf-8?q?Hi=0D=0A=0D=0AX?=",
    "subject-separators": "Subject: Hi\x0bBcc: e@evil.example\x0cBcc: e@evil.example\x1cX: y\x85Bcc: z",
    "subject-u2028": f"Subject: Hi\u2028{BCC}",
    "subject-long": "Subject: " + "x" * 3000,
    "subject-nul": f"Subject: Hi\x00{BCC}",
    "subject-bare-cr": f"Subject: Hi\r{BCC}",
    "subject-utf16": "Subject: =?utf-16?b?SABpAAoAQgBjAGMAOgAgAGUAQABlAA==?=",
    "name-lf": "From: =?utf-8?q?a=0ABcc=3A_eve=40evil=2Eexample?= <WHO>",
    "name-looks-like-address": 'From: "eve@evil.example" <WHO>',
    "name-closes-quote": r'From: "Ann\" <eve@evil.example>, \"" <WHO>',
    "name-bidi": "From: =?utf-8?b?4oCuZWxwbWF4ZS5saXZlQGV2ZQ==?= <WHO>",
    "id-lf": "Message-ID: <a=0ABcc: eve@evil.example>",
    "id-angle": "Message-ID: <a@b.example> <c@d.example>",
    "id-encoded": f"Message-ID: {B64_BCC}",
    "references-many": "References: " + " ".join(f"<r{n}@many.example>" for n in range(90)),
    "references-folded-bcc": f"References: <a@b.example>\r\n <{BCC}>",
    "reply-to-another": "Reply-To: eve@evil.example",
    "sender-another": "Sender: eve@evil.example",
    "cc-another": "Cc: eve@evil.example\r\nBcc: eve@evil.example",
    "disposition": "Disposition-Notification-To: eve@evil.example\r\nReturn-Receipt-To: eve@evil.example",
}
NO_AUTHOR = [
    "alice@victim.example<bob@evil.example>",
    "alice@victim.example, bob@evil.example",
    "alice@victim.example bob@evil.example",
    "<alice@victim.example><bob@evil.example>",
    '"alice@victim.example"@evil.example <bob@evil.example',
    "alice@victim.example@evil.example",
    "=?utf-8?q?alice=40victim=2Eexample=2C?= bob@evil.example, <>",
    "alice@victim.example\r\nFrom: bob@evil.example",
    "<@victim.example:bob@evil.example>, alice@victim.example",
    "alice@victim.example\x00@evil.example",
    "\u202eelpmaxe.live@bob <alice@victim.example>",
]


def mail(name: str, header: str) -> bytes:
    """A customer's mail with one hostile header in the place of the usual one."""
    who = f"robin@{name}.example"
    usual = {
        "From": f"Robin <{who}>",
        "To": "support@ourcompany.example",
        "Subject": "A question",
        "Message-ID": f"<{name}@robin.example>",
        "Date": "Mon, 2 Mar 2026 09:00:00 +0000",
    }
    usual.pop(header.partition(":")[0], None)
    lines = [f"{field}: {value}" for field, value in usual.items()]
    lines += [header.replace("WHO", who)] if header else []
    return ("\r\n".join(lines) + "\r\n\r\nWhat does the Team plan cost?\r\n").encode("utf-8", "surrogateescape")


def fields(raw: bytes) -> list[str]:
    """The names of the header fields, as lines show them: a parser is what is being tested."""
    head, separator, _ = raw.partition(b"\r\n\r\n")
    assert separator
    lines = re.split(rb"\r\n|\r|\n", head)
    return [line.partition(b":")[0].decode("ascii") for line in lines if line[:1] not in b" \t"]


@pytest.mark.parametrize("text", ["Hello.", f"Hello\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n{BCC}"])
async def test_hostile_headers_add_no_header_and_no_recipient(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, text: str
) -> None:
    """Each mail gets one reply, to its author alone, with exactly our headers, once each; nothing after the dot."""
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"port": server.port, "host": "127.0.0.1"}
        )
        async with running_brokerless(settings) as app:
            for name, header in HEADERS.items():
                raw = mail(name, header).replace(b"What does", text.encode() + b"\r\nWhat does")
                await accept(app, settings.inboxes[0], raw, source="file", source_key=name)
            await until_idle(app, timeout_s=120)
    answered = Counter(f"robin@{name}.example" for name in HEADERS)
    assert Counter(one.recipient for one in server.accepted) == answered
    assert server.steps["rcpt"] == server.steps["mail"] == server.steps["data"] == len(answered)
    for kept in server.accepted:
        _check(kept)


def _check(kept: Kept) -> None:
    found = fields(kept.raw)
    optional = {"In-Reply-To", "References"} if "id-" in kept.recipient else set()
    assert set(found) - optional == set(OURS) - optional
    assert len(found) == len(set(found))
    assert b"evil.example" not in kept.raw.partition(b"\r\nDate:")[0].partition(b"\r\nSubject:")[0]
    assert max(map(len, kept.raw.split(b"\r\n"))) <= 998


async def test_a_mail_with_no_one_author_gets_no_reply_at_all(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Where two readers could take From for different mailboxes, neither of them is written to."""
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"port": server.port, "host": "127.0.0.1"}
        )
        async with running_brokerless(settings) as app:
            for number, value in enumerate(NO_AUTHOR):
                raw = mail(f"n{number}", f"From: {value}")
                await accept(app, settings.inboxes[0], raw, source="file", source_key=str(number))
            await until_idle(app)
            async with app.database.reading() as conn:
                judged = await fetch_all(conn, "SELECT author_addr, verdict, trusted FROM mails")
    assert len(judged) == len(NO_AUTHOR)
    assert not any(row["trusted"] for row in judged)
    assert [one.recipient for one in server.accepted] == []
    assert server.steps["rcpt"] == 0
