"""A web server that takes alerts and webhooks: it keeps each POST, and answers as a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from services.core.standard_webhooks import sign_standard

SECRET = "whsec_b25lIHNlY3JldCBmb3IgYWxlcnRzIGFsb25l"


@dataclass(frozen=True, slots=True)
class Post:
    """One POST as it came."""

    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        """Its JSON."""
        return json.loads(self.body)

    @property
    def is_signed(self) -> bool:
        """Whether the signature is that of this id, time and body."""
        stamp = self.headers["webhook-timestamp"]
        return self.headers["webhook-signature"] == sign_standard(SECRET, self.headers["webhook-id"], stamp, self.body)


@dataclass
class Receiver:
    """`answer` is the status line and further headers of every answer, `content` its body; None: it never answers."""

    url: str = ""
    answer: str | None = "204 No Content"
    content: bytes = b""
    drips: bool = False  # the body comes a byte at a time, for ever
    posts: list[Post] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = dict(
                line.lower().split(": ", 1)[:1] + line.split(": ", 1)[1:] for line in head.splitlines()[1:-1]
            )
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.posts.append(Post(headers, body))
            if self.answer is None:
                await reader.read()  # until the other side goes
                return
            length = 10**9 if self.drips else len(self.content)
            head = f"HTTP/1.1 {self.answer}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            writer.write(head.encode() + self.content)
            await writer.drain()
            while self.drips:
                writer.write(b".")
                await writer.drain()
                await asyncio.sleep(0.05)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver on loopback for the block."""
    receiver = Receiver()
    listening = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/hook"
    try:
        yield receiver
    finally:
        listening.close()
