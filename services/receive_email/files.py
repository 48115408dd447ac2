"""Import of `.eml`, mbox and Maildir: resumable and idempotent, for a mail in a file is named by its content."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.events.mail import Mode
from services.core.app import App
from services.core.errors import Permanent
from services.core.settings import InboxSettings
from services.mail.mbox import count_messages, read_mailbox
from services.receive_email.accept import accept
from services.receive_email.fingerprint import message_id_of

MOST_AT_ONCE = 8
MOST_BYTES_AT_ONCE = 16 * 1024 * 1024

RawMail = tuple[str, bytes]  # origin, raw


class NothingToImport(Permanent):
    """There is no mail at this path."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import is: mails in all, read, new to us; empty files are read but bring no mail."""

    total: int
    read: int = 0
    new: int = 0
    empty: int = 0
    origin: str = ""


def source_key(raw: bytes) -> str:
    """What names a mail in a file, wherever the file lies."""
    return f"{hashlib.sha256(raw).hexdigest()}:{message_id_of(raw)}"


async def import_path(
    app: App,
    inbox: InboxSettings,
    path: Path,
    *,
    mode: Mode = "history",
    vouched_by: str = "",
    progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Let every mail at `path` in; started again, it goes on where it was. Raises `NothingToImport`.

    `vouched_by` is the operator who vouches for the senders; `progress` is called after every few mails.
    """
    total = await asyncio.to_thread(count_messages, path)
    if not total:
        raise NothingToImport(f"no mail at {path}: name an .eml file, an mbox, a Maildir, or a folder of these")
    state = Progress(total)
    mails = read_mailbox(path)

    async def take(raw: bytes) -> bool:
        key = source_key(raw)
        taken = await accept(app, inbox, raw, source="file", source_key=key, mode=mode, vouched_by=vouched_by)
        return taken.new

    while few := await asyncio.to_thread(_few, mails):
        full = [raw for _, raw in few if raw.strip()]
        new = sum(await _all_taken([take(raw) for raw in full]))
        empty = state.empty + len(few) - len(full)
        state = Progress(total, state.read + len(few), state.new + new, empty, few[-1][0])
        progress(state)
    return state


async def _all_taken(takes: list[Coroutine[Any, Any, bool]]) -> list[bool]:
    """What each gave. Raises the first error, but only when none is under way any more."""
    outcomes = await asyncio.gather(*takes, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if isinstance(outcome, bool)]


def _few(mails: Iterator[RawMail]) -> list[RawMail]:
    """The next mails, a few megabytes at most."""
    few: list[RawMail] = []
    size = 0
    while len(few) < MOST_AT_ONCE and size < MOST_BYTES_AT_ONCE:
        mail = next(mails, None)
        if mail is None:
            break
        few.append(mail)
        size += len(mail[1])
    return few
