"""Nothing in a mail of ours ends it for the server, or begins another: the very bytes of the socket are looked at.

A server that takes `\\n.\\n`, `\\r.\\r` or one of their mixtures for the end of a mail reads what follows as commands
(SMTP smuggling, 2023). So neither a line of one dot nor half a line break may be in what we send, wherever it came from.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from services.core.settings import SmtpSettings
from services.mail.compose import Block, ComposeRefused, File, Outgoing, compose
from services.mail.message import Address
from services.mail.smtp_dialogue import SmtpMessage, dialogue
from tests.unit.mail.test_compose import OUTGOING

ENDS = [
    "\r\n.\r\n",
    "\n.\n",
    "\r.\r",
    "\n.\r\n",
    "\r\n.\n",
    "\r\n.\r",
    "\r.\r\n",
    "\r\n\0.\r\n",
    "\x85.\x85",
    "\u2028.\u2028",
]
SECOND = "MAIL FROM:<eve@evil.example>\r\nRCPT TO:<bob@victim.example>\r\nDATA\r\nSubject: x\r\n\r\nx"
TYPES = ("text/plain", "text/html", "application/octet-stream", "image/svg+xml")


@dataclass
class Wire:
    """A server that reads a mail to its one right end, and keeps every byte that came."""

    port: int = 0
    came: bytearray = field(default_factory=bytearray)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 wire\r\n")
        while line := await reader.readuntil(b"\r\n"):
            self.came += line
            verb = line[:4].upper()
            writer.write({b"EHLO": b"250 8BITMIME\r\n", b"DATA": b"354 go\r\n"}.get(verb, b"250 ok\r\n"))
            if verb == b"DATA":
                self.came += await reader.readuntil(b"\r\n.\r\n")
                writer.write(b"250 kept\r\n")
            if verb == b"QUIT":
                break
        writer.close()


@asynccontextmanager
async def wire() -> AsyncIterator[Wire]:
    one = Wire()
    async with await asyncio.start_server(one.serve, "127.0.0.1", limit=2**22) as server:
        one.port = server.sockets[0].getsockname()[1]
        yield one


def hostile(end: str) -> list[Outgoing]:
    """The reply with the attack in each place that somebody else, or a person of ours, writes."""
    said = f"Hello{end}{SECOND}{end}"
    places: list[dict[str, Any]] = [
        {"text": said},
        {"text": end.join([".", "..", ". ", ".x", ".\t", "."])},
        {"quoted": said, "quote_intro": said},
        {"subject": said},
        {"recipient": Address(said, OUTGOING.recipient.addr)},
        {"sender": Address(said, OUTGOING.sender.addr)},
        {"signature": Block(said), "footer": Block(said)},
        {"references": (said, f"a{end}b@x.example"), "in_reply_to": f"c{end}d@x.example"},
        {"cc": (Address(said, "bo@customer.example"),)},
        *({"files": (File("a.txt", kind, said.encode()),)} for kind in TYPES),
        {"files": (File(said, "text/plain", b"x"), File("." * 500, "text/plain", b".\r\n" * 100))},
    ]
    return [replace(OUTGOING, **one) for one in places]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
async def test_nothing_that_is_written_ends_a_mail_or_begins_another(end: str) -> None:
    """Each is one mail to one recipient, whose bytes come back as they were composed, with whole line breaks alone."""
    settings = SmtpSettings(host="127.0.0.1", tls="none")
    sent = 0
    for reply in hostile(end):
        raw = compose(reply).raw
        async with wire() as server:
            to = SmtpMessage(OUTGOING.sender.addr, OUTGOING.recipient.addr, raw)
            async with dialogue(settings.model_copy(update={"port": server.port}), to) as talk:
                await talk.data()
        before, _, rest = bytes(server.came).partition(b"DATA\r\n")
        body, last, after = rest.partition(b"\r\n.\r\n")
        assert (last, after) == (b"\r\n.\r\n", b"QUIT\r\n")
        assert re.findall(rb"(?m)^(MAIL|RCPT)", before) == [b"MAIL", b"RCPT"]
        assert not re.search(rb"\r(?!\n)|(?<!\r)\n|\0", body)
        assert re.sub(rb"(?m)^\.\.", b".", body + b"\r\n") == raw
        sent += 1
    assert sent == 14


@pytest.mark.parametrize("kind", ["text/plain\r\nBcc: x@y.example", "message/rfc822", "text", "multipart/mixed"])
def test_a_file_of_a_type_that_is_none_is_refused(kind: str) -> None:
    """A mail in a mail has lines of its own, and a type with a line break would be a header: neither is made."""
    with pytest.raises(ComposeRefused):
        compose(replace(OUTGOING, files=(File("a.txt", kind, b"x\n.\n"),)))
