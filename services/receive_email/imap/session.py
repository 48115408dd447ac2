"""One connection to one folder, in blocking calls, for one thread. Opened read-only: no flag is ever set or read.

Every answer has a deadline. Raises `IMAP4.abort` or `OSError` where the connection is lost, and any other
exception of IMAPClient where the server refused one command or said something that cannot be understood.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import date, datetime
from imaplib import IMAP4
from typing import Any, ParamSpec, TypeVar

from services.core.settings import ImapSettings
from services.mail.imap import SENT_ROLE, TokenStore, access_token, enter, login, sent_folder
from services.receive_email.imap.folder import Folder, Listed

Lost = (IMAP4.abort, OSError)

BODY = b"BODY[]"
UIDS_A_COMMAND = 500
UIDS_A_WINDOW = 50_000


class Session:
    """A logged-in connection. All methods but `interrupt` belong to the thread that called `open`."""

    def __init__(self, imap: ImapSettings, token: str = "") -> None:
        self._imap = imap
        self._token = token
        self._client: Any = None

    def open(self) -> Folder:
        """Connect, log in, select the folder; its state now."""
        client = self._client = enter(self._imap)
        login(client, self._imap, self._token)
        folder = self._imap.folder
        selected = client.select_folder(
            sent_folder(client, self._imap) if folder == SENT_ROLE else folder, readonly=True
        )
        uidnext = selected.get(b"UIDNEXT") or max(client.search("ALL"), default=0) + 1
        return Folder(uidvalidity=int(selected[b"UIDVALIDITY"]), uidnext=int(uidnext))

    def list_after(self, uid: int) -> list[Listed]:
        """The mails with a higher UID, in order."""
        self._client.take_news()
        found = self._client.search(["UID", f"{uid + 1}:*"])
        return self._described(sorted(one for one in found if one > uid), ["RFC822.SIZE"])

    def list_since(self, day: date, uidnext: int) -> list[Listed]:
        """The mails below `uidnext` that the server got on `day` or later, in order, with the moment it did.

        Asked for in windows of UIDs: imaplib takes no answer of more than a million characters on one line.
        """
        self._client.take_news()
        listed: list[Listed] = []
        for low in range(1, uidnext, UIDS_A_WINDOW):
            window = f"{low}:{min(low + UIDS_A_WINDOW, uidnext) - 1}"
            uids = self._client.search(["UID", window, "SINCE", day])
            listed += self._described(sorted(uids), ["RFC822.SIZE", "INTERNALDATE"])
        return listed

    def fetch(self, uids: Sequence[int]) -> dict[int, bytes | None]:
        """The raw bytes by UID; a mail that is gone is missing, one that the server cannot show is None."""
        answers = self._client.fetch(list(uids), ["BODY.PEEK[]"])
        return {uid: answer.get(BODY) for uid, answer in answers.items()}

    @property
    def can_idle(self) -> bool:
        """Whether the server has IDLE (RFC 2177)."""
        return bool(self._client.has_capability("IDLE"))

    def wait(self, seconds: float) -> None:
        """IDLE until something happens in the folder, at most `seconds`."""
        self._client.idle()
        if not self._client.take_news():
            self._client.idle_check(timeout=seconds)
        self._client.idle_done()

    def noop(self) -> None:
        """Have the server look at the folder again."""
        self._client.noop()

    def interrupt(self) -> None:
        """End whatever call is under way, from another thread: it raises."""
        if self._client is not None:
            with contextlib.suppress(OSError, AttributeError, ValueError):
                self._client.socket().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Log out, or at least close the connection."""
        if self._client is not None:
            with self._client:
                pass

    def _described(self, uids: list[int], items: list[str]) -> list[Listed]:
        """What the server says of each mail; nothing where its answer cannot be understood."""
        listed: list[Listed] = []
        for at in range(0, len(uids), UIDS_A_COMMAND):
            piece = uids[at : at + UIDS_A_COMMAND]
            try:
                answers = self._client.fetch(piece, items)
            except Lost:
                raise
            except Exception:
                answers = {}
            listed += [_listed(uid, answers.get(uid, {})) for uid in piece]
        return listed


def _listed(uid: int, answer: dict[bytes, Any]) -> Listed:
    got = answer.get(b"INTERNALDATE")
    return Listed(uid, int(answer.get(b"RFC822.SIZE") or 0), got if isinstance(got, datetime) else None)


# A session that runs next to the event loop: each connection has one thread, which ends with it.
P = ParamSpec("P")
R = TypeVar("R")


class Connection:
    """Runs blocking calls of a `Session`, one after the other, in the connection's thread."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="imap")

    async def do(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What a blocking call gives, as in `await connection.do(connection.session.fetch, uids)`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: call(*args, **kwargs))

    async def end(self, *, lost: bool) -> None:
        """Log out where the connection stands, and let the thread go."""
        if lost:
            self.session.interrupt()
        self._thread.submit(self.session.close)
        await asyncio.to_thread(self._thread.shutdown)


@asynccontextmanager
async def connection(
    imap: ImapSettings, stop: asyncio.Event, tokens: TokenStore | None = None
) -> AsyncIterator[Connection]:
    """A connection that is not open yet; `stop` interrupts it at once, whatever it waits for."""
    token = await access_token(imap.oauth, tokens) if imap.oauth else ""
    made = Connection(Session(imap, token))
    watch = asyncio.create_task(_interrupt_at(stop, made.session))
    lost = True
    try:
        yield made
        lost = stop.is_set()
    finally:
        watch.cancel()
        await made.end(lost=lost)


async def _interrupt_at(stop: asyncio.Event, session: Session) -> None:
    await stop.wait()
    session.interrupt()
