"""An IMAP server that misbehaves on demand: it refuses a mail, hangs up, falls silent, or says two things at once.

It speaks as much of RFC 3501 as the edge uses, in the test's own event loop; `commands` is what it was told.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from services.core.settings import ImapSettings

Trouble = Literal["no", "nil", "hang up", "bad date", "silence"]


@dataclass
class ScriptedImap:
    """One folder. `mails` by UID; `troubles` by UID is what happens when that mail's body is fetched."""

    mails: dict[int, bytes] = field(default_factory=dict)
    troubles: dict[int, Trouble] = field(default_factory=dict)
    capabilities: str = "IMAP4rev1 IDLE"
    uidvalidity: int = 7
    token: str = ""
    exists_with_idle: bool = False
    internal_date: str = "17-Jul-2030 02:44:25 +0000"
    commands: list[str] = field(default_factory=list)
    port: int = 0
    _told: int = 0

    def imap(self, **changes: object) -> ImapSettings:
        """How to read this server."""
        given = {"host": "127.0.0.1", "port": self.port, "username": "ann", "password": "secret", "tls": "none"}
        return ImapSettings.model_validate(given | changes)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"* OK ready\r\n")
            while line := await reader.readline():
                tag, _, command = line.decode().strip().partition(" ")
                self.commands.append(command)
                if await self._answer(tag, command, reader, writer) == "hang up":
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, tag: str, command: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        verb = command.upper().removeprefix("UID ").partition(" ")[0]
        said, outcome = b"", "OK done"
        if verb == "CAPABILITY":
            said = f"* CAPABILITY {self.capabilities}\r\n".encode()
        elif verb == "AUTHENTICATE":
            outcome = await self._authenticate(reader, writer)
        elif verb == "EXAMINE":
            said = self._state()
        elif verb == "SEARCH":
            said = f"* SEARCH {' '.join(str(uid) for uid in self._found(command))}\r\n".encode()
        elif verb == "FETCH":
            said, outcome = self._fetched(command)
        elif verb == "IDLE":
            await self._idle(reader, writer)
        if outcome == "silence":
            await asyncio.sleep(3600)
        if outcome == "hang up":
            return outcome
        writer.write(said + f"{tag} {outcome}\r\n".encode())
        return outcome

    def _state(self) -> bytes:
        self._told = len(self.mails)
        uidnext = max(self.mails, default=0) + 1
        lines = [f"{len(self.mails)} EXISTS", f"OK [UIDVALIDITY {self.uidvalidity}] ", f"OK [UIDNEXT {uidnext}] "]
        return "".join(f"* {line}\r\n" for line in lines).encode()

    def _found(self, command: str) -> list[int]:
        self._told = len(self.mails)
        match = re.search(r"UID (\d+):\*", command)
        window = re.search(r"UID (\d+):(\d+)", command)
        if window:
            return [uid for uid in self.mails if int(window[1]) <= uid <= int(window[2])]
        above = [uid for uid in self.mails if match is None or uid >= int(match[1])]
        return above or [max(self.mails, default=0)][: len(self.mails)]

    def _fetched(self, command: str) -> tuple[bytes, str]:
        if "BODY.PEEK[HEADER]" in command:
            return b"".join(_head(place, raw) for place, raw in enumerate(self.mails.values(), 1)), "OK done"
        uids = [uid for uid in self.mails if uid in _uid_set(command)]
        if "BODY.PEEK[]" not in command:
            date = f' INTERNALDATE "{self.internal_date}"' if "INTERNALDATE" in command else ""
            lines = [f"* {uid} FETCH (UID {uid} RFC822.SIZE {len(self.mails[uid])}{date})\r\n" for uid in uids]
            return "".join(lines).encode(), "OK done"
        troubles = {self.troubles[uid] for uid in uids if uid in self.troubles}
        for outcome in ("hang up", "silence"):
            if outcome in troubles:
                return b"", outcome
        said = b"".join(self._body(uid) for uid in uids if self.troubles.get(uid) != "no")
        return said, "NO some messages could not be fetched" if "no" in troubles else "OK done"

    def _body(self, uid: int) -> bytes:
        if self.troubles.get(uid) == "nil":
            return f"* {uid} FETCH (UID {uid} BODY[] NIL)\r\n".encode()
        if self.troubles.get(uid) == "bad date":
            return f'* {uid} FETCH (UID {uid} INTERNALDATE "99-Foo" BODY[] NIL)\r\n'.encode()
        raw = self.mails[uid]
        return f"* {uid} FETCH (UID {uid} BODY[] {{{len(raw)}}}\r\n".encode() + raw + b")\r\n"

    async def _idle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.exists_with_idle:
            self.mails[max(self.mails, default=0) + 1] = b"Subject: came with IDLE\r\n\r\nbody\r\n"
            self.exists_with_idle = False
            self._told = len(self.mails)
            writer.write(f"+ idling\r\n* {len(self.mails)} EXISTS\r\n".encode())
        else:
            writer.write(b"+ idling\r\n")
        done = asyncio.create_task(reader.readline())
        while not done.done():
            if len(self.mails) != self._told:
                self._told = len(self.mails)
                writer.write(f"* {self._told} EXISTS\r\n".encode())
            await asyncio.wait({done}, timeout=0.05)
        self.commands.append((await done).decode().strip())

    async def _authenticate(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        writer.write(b"+ \r\n")
        given = base64.b64decode(await reader.readline()).decode()
        self.commands.append(repr(given))
        return "OK done" if f"auth=Bearer {self.token}\x01" in given else "NO [AUTHENTICATIONFAILED] wrong token"


def _uid_set(command: str) -> set[int]:
    uids: set[int] = set()
    for part in command.split()[2].split(","):
        first, _, last = part.partition(":")
        uids.update(range(int(first), int(last or first) + 1))
    return uids


@asynccontextmanager
async def scripted_imap(*, tls: ssl.SSLContext | None = None, **state: object) -> AsyncIterator[ScriptedImap]:
    """A running server with the given state, over TLS where a context is given."""
    server = ScriptedImap(**state)  # type: ignore[arg-type]
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        listening.close_clients() if hasattr(listening, "close_clients") else None


def _head(place: int, raw: bytes) -> bytes:
    """The headers of the mail at a place of the folder."""
    head = raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    return f"* {place} FETCH (BODY[HEADER] {{{len(head)}}}\r\n".encode() + head + b")\r\n"
