"""A session that runs next to the event loop: each connection has one thread, which ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from services.core.settings import ImapSettings
from services.mail.imap import TokenStore, access_token
from services.receive_email.imap.session import Session

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
