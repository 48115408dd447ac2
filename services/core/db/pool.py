"""Connections to Postgres: one pool a process, rows as dicts, UTC; statements that only need to be done are held."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import AsyncConnection, AsyncPipeline, Error
from psycopg.abc import PQGen
from psycopg.errors import PipelineAborted
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from services.core.clock import monotonic
from services.core.db.patience import PATIENCE
from services.core.db.vectors import VectorTypes

if TYPE_CHECKING:
    from services.core.keys import Keys

Connection = AsyncConnection[DictRow]

APP_ROLE = "correspondent_app"
_holding: ContextVar[frozenset[int]] = ContextVar("databases that a task holds a connection of", default=frozenset())
_KEYS = "_correspondent_keys"
_USED = "_correspondent_used_at"
PREPARED_AFTER = 1  # executions of a statement on a connection
MOST_PREPARED = (
    1000  # of a connection's statements: a mail needs some 150, and psycopg's own 100 forget each before its next use
)
TRUSTED_S = 1.0  # how long a connection is taken to be alive without asking
NOT_TO_DISK = "SELECT set_config('synchronous_commit', 'off', true)"
BIND = "SELECT set_config('app.workspace', %s, true), set_config('role', %s, true)"
BIND_NOT_TO_DISK: LiteralString = BIND + ", set_config('synchronous_commit', 'off', true)"


def give_keys(conn: Connection, keys: Keys | None) -> None:
    """Have what is fetched through `conn` opened with `keys`, and what is stored through it sealed."""
    setattr(conn, _KEYS, keys)


def keys_of(conn: Connection) -> Keys | None:
    """The keys that were given to the connection, or None."""
    found: Keys | None = getattr(conn, _KEYS, None)
    return found


async def _note_use(conn: Connection) -> None:
    setattr(conn, _USED, monotonic())


async def _check(conn: Connection) -> None:
    """Ask the server whether it is there, unless the connection was used a moment ago and nothing came since.

    A server that stops, or a backend that is killed, says goodbye or closes the socket: both can be read from it.
    """
    socket = select.poll()
    socket.register(conn.fileno(), select.POLLIN)
    if socket.poll(0) or monotonic() - getattr(conn, _USED, -TRUSTED_S) > TRUSTED_S:
        await AsyncConnectionPool.check_connection(conn)


def make_pool(database_url: str, *, size: int, keys: Keys | None = None) -> AsyncConnectionPool[Connection]:
    """A pool of at most `size` connections; `await pool.open()` before use."""
    vectors = VectorTypes()

    async def _configure(conn: Connection) -> None:
        await conn.set_autocommit(True)
        conn.prepare_threshold, conn.prepared_max = PREPARED_AFTER, MOST_PREPARED
        await conn.execute("SET timezone TO 'UTC'")
        await vectors.register(conn)
        give_keys(conn, keys)

    return AsyncConnectionPool(
        database_url,
        min_size=min(2, size),
        max_size=size,
        open=False,
        timeout=30,
        connection_class=AsyncConnection[DictRow],
        kwargs={"row_factory": dict_row, **PATIENCE},
        configure=_configure,
        check=_check,
        reset=_note_use,
    )


class SecondConnection(RuntimeError):
    """A task asked for a connection while it holds one: as many such tasks as the pool is large wait for ever."""


class Database:
    """What a processor needs of Postgres: transactions and reads, each bound to a workspace.

    A task holds one connection at a time, and so do the tasks that it starts while it holds it.
    """

    def __init__(self, database_url: str, *, size: int = 10, keys: Keys | None = None) -> None:
        self._pool = make_pool(database_url, size=size, keys=keys)
        self.keys = keys
        self.answered = 0  # uses of a connection that ended without an error
        self.cut_off = 0  # uses of a connection that were cancelled, while they waited for one included

    async def open(self) -> None:
        """Connect; raises `psycopg_pool.PoolTimeout` where Postgres does not answer."""
        await self._pool.open(wait=True, timeout=30)

    async def close(self) -> None:
        """Give all connections back."""
        await self._pool.close()

    @asynccontextmanager
    async def snapshot(self, workspace: str) -> AsyncIterator[Connection]:
        """One view of the rows of `workspace`, the same for all that is read in the block; nothing can be written.

        Several tasks may read at once: what they have sent when one of them waits is answered in one round trip.
        """
        async with self._begun("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", workspace) as conn:
            yield conn

    @asynccontextmanager
    async def transaction(self, workspace: str = "", *, to_disk: bool = True) -> AsyncIterator[Connection]:
        """One transaction that sees and writes the rows of `workspace` alone (row-level security, migration 0030).

        Committed at the end, rolled back on an error, as a connection of psycopg is when its block ends. Without a
        workspace it sees all of them. Statements are sent together when somebody waits (`held_pipeline`): who
        fetches rows waits for all before them, and what a statement that is not fetched from did wrong is raised by the
        next fetch, or at the end.

        Where it need not go `to_disk`, the end does not wait for that: others see it, and a crash of the server may
        take it back as long as no later transaction has waited. For what can be done again, or is waited for together.
        """
        async with self._begun("BEGIN", workspace, to_disk=to_disk) as conn:
            yield conn

    @asynccontextmanager
    async def _begun(self, begin: LiteralString, workspace: str, *, to_disk: bool = True) -> AsyncIterator[Connection]:
        async with self._one() as conn, _discarded_when_cut_off(conn), held_pipeline(conn):
            await conn.execute(begin)
            if workspace:
                await conn.execute(BIND if to_disk else BIND_NOT_TO_DISK, [workspace, APP_ROLE])
            elif not to_disk:
                await conn.execute(NOT_TO_DISK)
            yield conn
            await conn.execute("COMMIT")

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """A connection in autocommit, for reads that need no snapshot."""
        async with self._one() as conn:
            yield conn

    @asynccontextmanager
    async def _one(self) -> AsyncIterator[Connection]:
        held = _holding.get()
        if id(self) in held:
            raise SecondConnection("give the connection that is held to what needs one, or end its block first")
        try:
            async with self._pool.connection() as conn:
                _holding.set(held | {id(self)})
                try:
                    yield conn
                finally:
                    _holding.set(held)
            self.answered += 1
        except asyncio.CancelledError:
            self.cut_off += 1
            raise


@asynccontextmanager
async def _discarded_when_cut_off(conn: Connection) -> AsyncIterator[None]:
    """Close a connection whose user was cancelled: the pool replaces it, and the server rolls back.

    In a pipeline psycopg cannot always tell whether the server has a transaction open: the next user of such a
    connection found one, which its own COMMIT would have committed.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException:
        await conn.close()
        raise


# A pipeline that sends its statements when somebody waits for an answer, not one by one.
#
# psycopg sends each statement as soon as it is executed: a call of the system for each, and a backend that is woken.
#
# Invariants
# - What is executed and not fetched reaches the server with the next fetch, at the latest with the end of the block or
#   with the `MOST_HELD`-th statement, in the order in which it was executed.
# - What went wrong first is raised, not that the rest was not done because of it.
MOST_HELD = 100  # statements


class _HeldPipeline(AsyncPipeline):
    def _communicate_gen(self) -> PQGen[None]:
        ends = bool(self.result_queue) and self.result_queue[-1] is None
        if ends or len(self.command_queue) >= MOST_HELD:
            yield from super()._communicate_gen()

    def _fetch_gen(self, *, flush: bool) -> PQGen[None]:
        while self.command_queue:
            self.command_queue.popleft()()
        yield from super()._fetch_gen(flush=flush)

    def _exit_gen(self) -> PQGen[None]:
        # psycopg's own raises what it reads last: where an error is answered before all is sent, that what was sent
        # after it was aborted.
        self._enqueue_sync()
        try:
            yield from self._communicate_gen()
        except Error:
            with suppress(PipelineAborted):
                yield from self._fetch_gen(flush=True)
            raise
        yield from self._fetch_gen(flush=True)


@asynccontextmanager
async def held_pipeline(conn: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Have `conn` in such a pipeline for the block; a fetch waits for all that was executed before."""
    conn._pipeline = _HeldPipeline(conn)
    async with conn.pipeline():
        yield
