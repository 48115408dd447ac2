"""An SMTP server that delivers nothing: every accepted message lands in a Maildir for a person to look into.

The envelope stands in `X-Envelope-From` and one `X-Envelope-To` per recipient on top; below them the message is byte
for byte what was sent. A message is answered 250 only after its file is synced to disk.
"""

from __future__ import annotations

import argparse
import asyncio
import mailbox
import signal
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

from deploy.local.ports import HOST

LARGEST = 26_214_400  # bytes: the 25 MB that a mail may have


class Outbox:
    """Stores what aiosmtpd hands over."""

    def __init__(self, folder: Path) -> None:
        self._maildir = mailbox.Maildir(folder, create=True)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Keep one message; the answer names the file it is in."""
        key = await asyncio.to_thread(self._maildir.add, with_envelope(envelope))
        return f"250 2.0.0 Kept as {key}"


def with_envelope(envelope: Envelope) -> bytes:
    """The message's bytes with its envelope in header fields on top."""
    fields = [f"X-Envelope-From: <{envelope.mail_from or ''}>"]
    fields += [f"X-Envelope-To: <{recipient}>" for recipient in envelope.rcpt_tos]
    content = envelope.content or b""
    body = content.encode() if isinstance(content, str) else content
    return "".join(f"{field}\r\n" for field in fields).encode("utf-8", "surrogateescape") + body


async def serve(outbox: Path, port: int) -> None:
    """Accept mail on `port` until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stopped.set)
    handler = Outbox(outbox)
    server = await loop.create_server(
        lambda: SMTP(handler, data_size_limit=LARGEST, enable_SMTPUTF8=True, hostname="sink.invalid", ident="sink"),
        HOST,
        port,
    )
    async with server:
        await stopped.wait()


def main() -> None:
    """Run the sink in the foreground."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m deploy.local.smtp_sink")
    parser.add_argument("--port", type=int, default=2525)
    parser.add_argument("--outbox", type=Path, default=Path("var/outbox"))
    arguments = parser.parse_args()
    arguments.outbox.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(serve(arguments.outbox, arguments.port))


if __name__ == "__main__":
    main()
