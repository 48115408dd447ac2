"""A beginning that the tests of a file share: its mails are handled once, and what they left is copied for each test."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis import Redis

from deploy.local import Endpoints
from tests.support.remembering import Memory
from tests.support.stack import create_database, drop_database

M = TypeVar("M", bound=Memory)
MOST_KEPT = 3  # a file has one or two beginnings, and each lies in memory


@dataclass(frozen=True, slots=True)
class Begun:
    """What a beginning left: a database that is copied, files, the name of the workspace, and when it ended."""

    database: str
    files: TemporaryDirectory[str]
    prefix: str
    ended: datetime
    number: int


_kept: OrderedDict[Any, Begun] = OrderedDict()
_names = count(1)


@asynccontextmanager
async def after(
    begin: Callable[[M], Awaitable[Any]],
    opening: Callable[..., AbstractAsyncContextManager[M]],
    stack: Endpoints,
    database: str,
    prefix: str,
    home: Path,
    **changes: Any,
) -> AsyncIterator[M]:
    """What `opening` opens with these arguments, once `begin` has happened in it: at most once a process.

    A closure over another test's servers is the same beginning, as is one with other addresses of them.
    The copies have the ids of one beginning, and so has what they send: no test may look for that among what others sent.
    """
    key = (begin.__code__, opening, repr(_but_addresses(changes)))
    if key in _kept:
        _copy(stack, _kept[key], database, home)
    else:
        async with opening(stack, database, prefix, home, **changes) as one:
            await begin(one)
        _keep(
            stack,
            key,
            database,
            home,
            Begun(f"begun_{next(_names)}", TemporaryDirectory(), prefix, one.clock(), next(one.numbers)),
        )
    begun = _kept[key]
    _kept.move_to_end(key)
    async with opening(stack, database, begun.prefix, home, **changes) as one:
        one.clock.forward(begun.ended)
        one.numbers = count(begun.number)
        yield one


def _but_addresses(said: Any) -> Any:
    """Where the servers of a test's own answer is no part of what was said."""
    if isinstance(said, dict):
        return {name: _but_addresses(one) for name, one in said.items() if name not in ("base_url", "port")}
    return said


def _keep(stack: Endpoints, key: Any, database: str, home: Path, begun: Begun) -> None:
    create_database(stack.database, begun.database, template=_name(database))
    shutil.copytree(home, begun.files.name, dirs_exist_ok=True)
    _kept[key] = begun
    while len(_kept) > MOST_KEPT:
        _, oldest = _kept.popitem(last=False)
        drop_database(stack.database, oldest.database)
        oldest.files.cleanup()


def _copy(stack: Endpoints, begun: Begun, database: str, home: Path) -> None:
    """The database that the test was given is one of the beginning from now on; the cache knows nothing of another copy."""
    drop_database(stack.database, _name(database))
    create_database(stack.database, _name(database), template=begun.database)
    shutil.copytree(begun.files.name, home, dirs_exist_ok=True)
    with Redis.from_url(stack.redis) as cache:
        cache.flushdb()


def _name(database: str) -> str:
    return urlsplit(database).path.removeprefix("/")
