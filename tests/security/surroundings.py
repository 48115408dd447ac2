"""What stands around the product: SMTP, IMAP, a model and the DNS, on real sockets, in a thread of their own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

from tests.support.scripted_imap import ScriptedImap, scripted_imap
from tests.support.scripted_model import ScriptedModel
from tests.support.smtp_server import SmtpServer

T = TypeVar("T")


@dataclass
class Zone:
    """A name server that answers TXT from a table, and NXDOMAIN else, at once."""

    texts: dict[str, str] = field(default_factory=dict)
    port: int = 0

    def answer(self, wire: bytes) -> bytes:
        """The answer to one question."""
        question = dns.message.from_wire(wire)
        answer = dns.message.make_response(question)
        answer.flags |= dns.flags.RA
        (asked,) = question.question
        text = self.texts.get(asked.name.to_text().rstrip(".").lower())
        if text is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif asked.rdtype.name == "TXT":
            parts = " ".join(f'"{text[at : at + 200]}"' for at in range(0, len(text), 200))
            answer.answer.append(dns.rrset.from_text(asked.name, 60, "IN", "TXT", parts))
        return answer.to_wire()

    def serve(self, stop: threading.Event) -> None:
        """Answer over UDP until told to stop."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
            listening.bind(("127.0.0.1", self.port))
            listening.settimeout(0.2)
            while not stop.is_set():
                try:
                    wire, peer = listening.recvfrom(4096)
                    listening.sendto(self.answer(wire), peer)
                except (TimeoutError, dns.exception.DNSException):
                    continue


@dataclass
class Surroundings:
    """The servers, and the loop that they run in."""

    smtp: SmtpServer
    model: ScriptedModel
    imap: ScriptedImap
    zone: Zone
    loop: asyncio.AbstractEventLoop

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float = 660) -> T:
        """Run a coroutine in the servers' loop, from the test's thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout_s)


@contextmanager
def surroundings(zone: Zone) -> Iterator[Surroundings]:
    """Every server, answering, for the block."""
    loop, stop = asyncio.new_event_loop(), threading.Event()
    zone.port = _free_udp_port()
    threads = [
        threading.Thread(target=loop.run_forever, daemon=True),
        threading.Thread(target=zone.serve, args=(stop,), daemon=True),
    ]
    for one in threads:
        one.start()
    stack = AsyncExitStack()

    async def begin() -> Surroundings:
        smtp = await stack.enter_async_context(SmtpServer())
        model = await stack.enter_async_context(ScriptedModel())
        date = datetime.now(UTC).strftime("%d-%b-%Y %H:%M:%S +0000")
        imap = await stack.enter_async_context(scripted_imap(internal_date=date))
        return Surroundings(smtp, model, imap, zone, loop)

    started = asyncio.run_coroutine_threadsafe(begin(), loop).result(20)
    try:
        yield started
    finally:
        stop.set()
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        for one in threads:
            one.join(5)
        loop.close()


def _free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
