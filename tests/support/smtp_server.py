"""An SMTP server for tests that keeps what it accepts, and fails where a script says so.

    async with SmtpServer() as server:
        server.script = lambda session, step: "451 not now" if step == "rcpt" else None
        ...                                        # server.port
        server.accepted                            # every message that got a 250, or would have

A session passes `connect`, `ehlo`, `mail`, `rcpt`, `data` (the verb), `body` (asked for, not yet read), `dot` (the body
is in, not yet kept), `accepted` (it is kept, not yet answered) and `quit`. At each step the script (plain or async) is asked and answers
None to go on, a reply line to give instead of success, `HANG` to fall silent, or `DROP` to cut the connection.
"""

from __future__ import annotations

import asyncio
import email
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email import policy
from typing import Literal, Self

Step = Literal["connect", "ehlo", "mail", "rcpt", "data", "body", "dot", "accepted", "quit"]
HANG, DROP = "hang", "drop"
VERBS: dict[str, Step] = {
    "EHLO": "ehlo",
    "HELO": "ehlo",
    "MAIL": "mail",
    "RCPT": "rcpt",
    "DATA": "data",
    "QUIT": "quit",
}
SUCCESS: dict[Step, str] = {
    "connect": "220 test.example ESMTP",
    "ehlo": "250-test.example\r\n250-8BITMIME\r\n250 SMTPUTF8",
    "mail": "250 OK",
    "rcpt": "250 OK",
    "data": "354 go on",
    "accepted": "250 kept",
    "quit": "221 bye",
}


@dataclass(slots=True)
class Session:
    """One connection: its number, counted from 1, and the envelope so far."""

    number: int
    sender: str = ""
    recipient: str = ""  # the last one that was named
    taken: list[str] = field(default_factory=list)  # those that the server said yes to


Script = Callable[[Session, Step], str | Awaitable[str | None] | None]


@dataclass(frozen=True, slots=True)
class Kept:
    """One accepted message."""

    sender: str
    recipient: str
    raw: bytes
    copies: tuple[str, ...] = ()

    def header(self, name: str) -> str:
        """The first header field of this name, "" if there is none."""
        return str(email.message_from_bytes(self.raw, policy=policy.default).get(name, ""))

    @property
    def message_id(self) -> str:
        """Its Message-ID with the angle brackets off."""
        return self.header("Message-ID").strip().strip("<>")


class _Gone(Exception):
    """The connection is to be cut."""


@dataclass(slots=True)
class SmtpServer:
    """Listens on one loopback port from `async with` on; without a script it accepts everything."""

    script: Script = lambda session, step: None
    accepted: list[Kept] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)
    port: int = 0
    _sessions: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def copies(self) -> Counter[str]:
        """How often each Message-ID was accepted."""
        return Counter(one.message_id for one in self.accepted)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._sessions += 1
        try:
            await self._talk(Session(self._sessions), reader, writer)
        except (_Gone, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _talk(self, session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._pass(session, "connect", writer)
        while line := (await reader.readline()).decode().strip():
            step = VERBS.get(line[:4].upper())
            if step is None:
                await _say(writer, "250 OK" if line[:4].upper() in ("RSET", "NOOP") else "500 what?")
                continue
            _note(session, step, line)
            passed = await self._pass(session, step, writer)
            if passed and step == "rcpt":
                session.taken.append(session.recipient)
            if passed and step == "data":
                await self._take(session, reader, writer)
            if step == "quit":
                return

    async def _take(self, session: Session, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._pass(session, "body", writer)
        raw = (await reader.readuntil(b"\r\n.\r\n")).removesuffix(b".\r\n").replace(b"\r\n..", b"\r\n.")
        if await self._pass(session, "dot", writer):
            self.accepted.append(Kept(session.sender, session.taken[0], raw, tuple(session.taken[1:])))
            await self._pass(session, "accepted", writer)

    async def _pass(self, session: Session, step: Step, writer: asyncio.StreamWriter) -> bool:
        """Ask the script, say what is to be said; whether the step succeeded."""
        self.steps[step] += 1
        asked = self.script(session, step)
        fault = await asked if inspect.isawaitable(asked) else asked
        if fault == HANG:
            await asyncio.Event().wait()
        if fault == DROP:
            raise _Gone
        said = fault or SUCCESS.get(step)
        if said:
            await _say(writer, said)
        return fault is None


def _note(session: Session, step: Step, line: str) -> None:
    address = line.partition("<")[2].partition(">")[0]
    if step == "mail":
        session.sender = address
        session.taken.clear()
    elif step == "rcpt":
        session.recipient = address


async def _say(writer: asyncio.StreamWriter, line: str) -> None:
    writer.write(line.encode("utf-8", "surrogateescape") + b"\r\n")
    await writer.drain()
