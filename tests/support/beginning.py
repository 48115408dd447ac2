"""A beginning that the tests of a file share: its mails are handled once, and what they left is copied for each test."""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis import Redis

from deploy.local import Endpoints
from tests.support.once import worked_out_once
from tests.support.remembering import Memory
from tests.support.stack import create_database, drop_database, fresh_database
from tests.support.tending import Tended

M = TypeVar("M", bound=Memory)
MOST_KEPT = 3  # a file has one or two beginnings, and each lies in memory


async def answered(one: Tended) -> None:
    """A beginning that several files have: a customer's mail, whose answer left."""
    await one.write("What does the Team plan cost?")


@dataclass(frozen=True, slots=True)
class Begun:
    """What a beginning left: a database and files that are copied, the name of its workspace, and when it ended."""

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
    template: str,
    prefix: str,
    home: Path,
    **changes: Any,
) -> AsyncIterator[M]:
    """What `opening` opens on a copy of the database `template`, once `begin` has happened there: at most once a process.

    A closure over another test's servers is the same beginning, as is one with other addresses of them.
    The copies have the ids of one beginning, and so has what they send: no test may look for that among what others sent.
    """
    key = (begin.__code__, opening, repr(_but_addresses(changes)))
    with worked_out_once():
        if key not in _kept:
            _kept[key] = await _begun(begin, partial(opening, prefix=prefix, **changes), stack, template)
            _forget_oldest(stack)
        begun = _kept[key]
        _kept.move_to_end(key)
        with Redis.from_url(stack.redis) as cache:
            cache.flushdb()  # what another copy left there is about the same ids
        shutil.copytree(begun.files.name, home, dirs_exist_ok=True)
        with fresh_database(stack.database, template=begun.database) as url:
            async with opening(stack, url, begun.prefix, home, **changes) as one:
                one.clock.forward(begun.ended)
                one.numbers = count(begun.number)
                yield one


async def _begun(
    begin: Callable[[M], Awaitable[Any]],
    opening: Callable[..., AbstractAsyncContextManager[M]],
    stack: Endpoints,
    template: str,
) -> Begun:
    name, files = f"begun_{next(_names)}", TemporaryDirectory()
    create_database(stack.database, name, template=template)
    url = urlsplit(stack.database)._replace(path=f"/{name}").geturl()
    async with opening(stack, url, home=Path(files.name)) as one:
        await begin(one)
        return Begun(name, files, one.app.settings.kafka.topic_prefix, one.clock(), next(one.numbers))


def _forget_oldest(stack: Endpoints) -> None:
    while len(_kept) > MOST_KEPT:
        _, oldest = _kept.popitem(last=False)
        drop_database(stack.database, oldest.database)
        oldest.files.cleanup()


def _but_addresses(said: Any) -> Any:
    """Where the servers of a test's own answer is no part of what was said."""
    if isinstance(said, dict):
        return {name: _but_addresses(one) for name, one in said.items() if name not in ("base_url", "port")}
    return said
