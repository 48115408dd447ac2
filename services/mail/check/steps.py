"""A check's steps: each says what it found or ends its chain with a fault; and the two that every server shares."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.core.errors import CorrespondentError

TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One step: whether it went well, what was found, and, where it did not, what to do."""

    step: str
    ok: bool
    found: str
    remedy: str = ""


class Fault(CorrespondentError):
    """A step failed; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.found)
        self.finding = finding


Step = Callable[[], Awaitable[str]]


async def walk(findings: list[Finding], steps: list[tuple[str, Step]]) -> None:
    """Take the steps in order, up to the first fault."""
    for name, step in steps:
        try:
            findings.append(Finding(name, True, await step()))
        except Fault as fault:
            findings.append(fault.finding)
            return
        except Exception as error:
            findings.append(Finding(name, False, f"unexpected: {error!r}", "report this line to the project"))
            return


async def resolve(step: str, host: str, port: int, setting: str) -> str:
    """Look a name up. Raises `Fault`."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        remedy = f"look for a misspelling in {setting}; ask your provider for the server's name"
        raise Fault(Finding(step, False, f"the name {host!r} does not resolve: {error}", remedy)) from error
    return f"{host} is {', '.join(sorted({str(one[4][0]) for one in found}))}"


async def connect(step: str, host: str, port: int) -> str:
    """Open a connection and close it. Raises `Fault`."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as error:
        remedy = f"check that port {port} is right and that no firewall is in between (IMAP 993, submission 587 or 465)"
        what = str(error) or f"no answer in {TIMEOUT_S:.0f} s"
        raise Fault(Finding(step, False, f"no connection to {host} port {port}: {what}", remedy)) from error
    writer.close()
    return f"{host} answers on port {port}"
