"""The subjects' keys: made where they are first needed, held while something is stored under them, cached for reading.

Invariants
- What is stored under a key is stored in a transaction that holds the key's row; destroying the key waits for that
  transaction, and a key that is gone cannot be held. So nothing is ever stored under a key that was destroyed.
- A key that others can see is on disk, but for those of raw mail: `accept` notices where one of them was lost.
- What was read before an erase is not stored after it, under whatever key: whoever began before begins again.
- A process may read with a key that another one has destroyed for `CACHE_S` seconds at most. At most `CACHED` keys are
  kept in memory.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from psycopg import AsyncConnection, OperationalError
from psycopg.rows import DictRow, dict_row

from services.core.clock import monotonic, random_bytes, random_id
from services.core.db.patience import PATIENCE
from services.core.db.sql import queries
from services.core.errors import Permanent, Temporary
from services.core.keys.aead import KEY, KEY_BYTES, SEALED, Json, SubjectKey, is_sealed, open_json
from services.core.keys.master import MasterKeyMissing, MasterKeys

SQL = queries(__file__)
CACHE_S = 3.0
CACHED = 10_000

People = frozenset[UUID]


class Erased(Permanent):
    """The content can no longer be read: one of the people whom it is about was erased."""


class ErasedMeanwhile(Temporary):
    """An erase has met the thread since work on it began: what was read before must not be stored. Done again, it is
    read again."""


@dataclass(frozen=True, slots=True)
class Begun:
    """How many erasures had met a thread when work on it began."""

    thread: UUID | None
    erasures: int


class Keys:
    """The keys of one database. Reading uses a connection of its own, writing the caller's transaction.

    `read_master` is called again where a key was wrapped by a master key that was made since.
    """

    def __init__(
        self, database_url: str, read_master: Callable[[], MasterKeys], *, now_s: Callable[[], float] = monotonic
    ) -> None:
        self._url, self._read_master, self._now_s = database_url, read_master, now_s
        self._master = read_master()
        self._cache: OrderedDict[UUID, tuple[float, SubjectKey]] = OrderedDict()
        self._writers: OrderedDict[UUID, People] = OrderedDict()
        self._talk = asyncio.Lock()
        self._conn: AsyncConnection[DictRow] | None = None

    async def close(self) -> None:
        """Close the connection; what is cached is forgotten."""
        self._cache.clear()
        if self._conn is not None:
            await self._conn.close()

    async def find(self, ids: Collection[UUID]) -> dict[UUID, SubjectKey]:
        """Those of the keys that exist."""
        found = {id: key for id in ids if (key := self._cached(id))}
        missing = [id for id in ids if id not in found]
        if missing:
            for row in await self._ask(missing):
                found[row["key_id"]] = self._keep(self._unwrap(row))
        return found

    def within(self, conn: AsyncConnection[Any]) -> Keys:
        """The keys as a transaction of `conn` sees them: what it destroyed is gone for it, what it made is there."""
        return _KeysWithin(self._url, self._read_master, conn)

    async def key(self, id: UUID) -> SubjectKey:
        """The key with this id. Raises `Erased`."""
        found = await self.find([id])
        if id not in found:
            raise Erased
        return found[id]

    def forget(self, id: UUID | None) -> None:
        """Have the next one who needs the key ask for it again."""
        if id is not None:
            self._cache.pop(id, None)

    async def open(self, value: Json, *, of: str = "") -> Json:
        """JSON with a sealed part, in the clear. Raises `Erased` or `NotAuthentic`."""
        if not value[SEALED]:
            raise Erased
        return open_json(await self.key(UUID(value[KEY])), value, of=of)

    async def open_bytes(self, value: bytes, *, of: str = "") -> tuple[bytes, Json | None]:
        """A record's value in the clear, and as it was sealed (None where it was not). Raises as `open` does."""
        if SEALED.encode() not in value or not is_sealed(found := _json(value)):
            return value, None
        return json.dumps(await self.open(found, of=of)).encode(), found

    async def open_rows(self, rows: Iterable[DictRow]) -> None:
        """Open each column that is sealed, in place; what was erased stays as it is. `sealed` is its sealed form."""
        sealed = [
            (row, name, value)
            for row in rows
            for name, value in row.items()
            if type(value) is dict and is_sealed(value) and value[SEALED]
        ]
        if not sealed:
            return
        ids = {one: UUID(one) for one in {value[KEY] for _, _, value in sealed}}
        keys = await self.find(ids.values())
        for row, name, value in sealed:
            if (key := keys.get(ids[value[KEY]])) is not None:
                row[name] = open_json(key, value)
                if name == "data":
                    row["sealed"] = value

    async def hold(
        self,
        conn: AsyncConnection[Any],
        workspace: str,
        wanted: Collection[People],
        used: UUID | None = None,
        begun: Begun | None = None,
        *,
        to_disk: bool = True,
    ) -> dict[People, SubjectKey]:
        """The key of each set of people, made where there is none, held until the caller's transaction ends.

        Where one is made the end of the transaction waits for the disk, whatever it was begun for: what is sealed with
        a key that a crash of the server takes back could never be read. With `to_disk` False it is the caller's matter.
        Raises `Erased` where the key `used` (of what the transaction decides upon) is gone, and `ErasedMeanwhile` where
        an erase has met the thread since the work has `begun`.
        """
        held = await self.hold_known(conn, workspace, wanted, used, begun)
        missing = {subject_of(people): people for people in wanted if people not in held}
        # In one order everywhere: two that make the same keys in different orders would wait for each other.
        for subject, people in sorted(missing.items()):
            await conn.execute(SQL.make, self._new(workspace, subject, people))
        if missing and to_disk:
            await conn.execute(SQL.to_disk)
        return held | (await self.hold_known(conn, workspace, missing.values(), begun=begun) if missing else {})

    async def hold_known(
        self,
        conn: AsyncConnection[Any],
        workspace: str,
        wanted: Collection[People],
        used: UUID | None = None,
        begun: Begun | None = None,
    ) -> dict[People, SubjectKey]:
        """Those of the keys that there are, held as `hold` does; none is made."""
        subjects = {subject_of(people): people for people in wanted}
        args = {"workspace": workspace, "subjects": list(subjects), "used": used, "thread": begun and begun.thread}
        rows = await _rows(conn, SQL.hold, args)
        if used is not None and used not in {row["key_id"] for row in rows}:
            raise Erased
        if begun is not None and any(row["erasures"] > begun.erasures for row in rows):
            raise ErasedMeanwhile
        return {subjects[row["subject"]]: self._unwrapped(row) for row in rows if row["subject"] in subjects}

    def note_writers(self, wrote: Mapping[UUID, People]) -> None:
        """Who wrote in some threads, as a transaction saw it."""
        for thread, people in wrote.items():
            self._writers[thread] = people
            self._writers.move_to_end(thread)
        while len(self._writers) > CACHED:
            self._writers.popitem(last=False)

    def writers_of(self, threads: Iterable[UUID]) -> dict[UUID, People]:
        """Who wrote there when this process saw it last: a guess, which only saves a question."""
        return {one: self._writers[one] for one in threads if one in self._writers}

    async def hand_over(self, conn: AsyncConnection[Any], workspace: str, subject: UUID, people: People) -> None:
        """The key of `subject` (a mail) goes when one of these people does."""
        args = {"workspace": workspace, "subject": subject, "owners": sorted(people)}
        await conn.execute(SQL.hand_over, args)

    async def owned(self, conn: AsyncConnection[Any], workspace: str, people: Collection[UUID]) -> dict[UUID, People]:
        """The keys that go when one of these people does, each with all its owners, held for the transaction alone."""
        rows = await _rows(conn, SQL.owned, {"workspace": workspace, "people": list(people), "ids": [], "subjects": []})
        return {row["key_id"]: frozenset(row["owners"]) for row in rows}

    async def take(
        self, conn: AsyncConnection[Any], workspace: str, ids: Collection[UUID] = (), subjects: Collection[UUID] = ()
    ) -> dict[UUID, People]:
        """Some keys, by id or by what they are found by, with their owners, held for the transaction alone."""
        args = {"workspace": workspace, "people": [], "ids": list(ids), "subjects": list(subjects)}
        rows = await _rows(conn, SQL.owned, args)
        return {row["key_id"]: frozenset(row["owners"]) for row in rows}

    async def destroy(self, conn: AsyncConnection[Any], ids: Collection[UUID]) -> None:
        """Nothing that these keys sealed can be read again, once the transaction is committed."""
        await conn.execute(SQL.destroy, {"ids": list(ids)})

    async def rewrap(self, conn: AsyncConnection[Any], limit: int = 500) -> int:
        """Wrap keys of former master keys with the one in use, in the caller's transaction; how many."""
        rows = await _rows(conn, SQL.wrapped_by_others, {"master": self._master.current, "limit": limit})
        for row in rows:
            key = self._unwrap(row)
            args = {"key_id": key.id, "master": self._master.current, "wrapped": self._master.wrap(key)}
            await conn.execute(SQL.wrap, args)
        return len(rows)

    def _new(self, workspace: str, subject: UUID, people: People) -> dict[str, Any]:
        key = SubjectKey(random_id(), random_bytes(KEY_BYTES))
        return {
            "key_id": key.id,
            "workspace": workspace,
            "subject": subject,
            "owners": sorted(people),
            "master": self._master.current,
            "wrapped": self._master.wrap(key),
        }

    def _unwrapped(self, row: DictRow) -> SubjectKey:
        return self._cached(row["key_id"]) or self._keep(self._unwrap(row))

    def _unwrap(self, row: DictRow) -> SubjectKey:
        wrapped = (row["key_id"], row["master"], row["wrapped"])
        try:
            return self._master.unwrap(*wrapped)
        except MasterKeyMissing:  # another process has made a newer one
            self._master = self._read_master()
            return self._master.unwrap(*wrapped)

    def _cached(self, id: UUID) -> SubjectKey | None:
        known = self._cache.get(id)
        return known[1] if known and self._now_s() - known[0] < CACHE_S else None

    def _keep(self, key: SubjectKey) -> SubjectKey:
        self._cache[key.id] = (self._now_s(), key)
        self._cache.move_to_end(key.id)
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)
        return key

    async def _ask(self, ids: list[UUID]) -> list[DictRow]:
        # A connection of its own, whatever connection the caller holds, with one question at a time.
        async with self._talk:
            if self._conn is not None and not self._conn.closed:
                with suppress(OperationalError):  # it may have been lost since it was last used
                    return await _rows(self._conn, SQL.by_ids, {"ids": ids})
            connect = AsyncConnection.connect(self._url, autocommit=True, row_factory=dict_row, **PATIENCE)
            self._conn = await connect
            return await _rows(self._conn, SQL.by_ids, {"ids": ids})


class _KeysWithin(Keys):
    """Keys that are always asked for on one connection, and never cached."""

    def __init__(self, database_url: str, read_master: Callable[[], MasterKeys], conn: AsyncConnection[Any]) -> None:
        super().__init__(database_url, read_master)
        self._within = conn

    def _cached(self, id: UUID) -> SubjectKey | None:
        return None

    async def _ask(self, ids: list[UUID]) -> list[DictRow]:
        return await _rows(self._within, SQL.by_ids, {"ids": ids})


def subject_of(people: People) -> UUID:
    """What the key of a set of people is found by: the one person's id, or one made of all of theirs."""
    if len(people) == 1:
        return next(iter(people))
    return uuid5(NAMESPACE_OID, "people:" + ",".join(sorted(map(str, people))))


async def _rows(conn: AsyncConnection[Any], query: Any, args: dict[str, Any]) -> list[DictRow]:
    async with conn.cursor(row_factory=dict_row) as cursor:
        return await (await cursor.execute(query, args)).fetchall()


def _json(value: bytes) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
