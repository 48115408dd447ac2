"""Redis as a cache that may vanish at any time: every miss and every failure reads the table instead.

Invariant: nobody waits long for a cached text; but who has to find or forget every one of them waits for a slow server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

log = structlog.get_logger(__name__)

HANDY_S, THOROUGH_S = 1, 30


class Cache:
    """Text by key, for a time. A cache that is away is an empty cache, but where a method says that it raises."""

    def __init__(self, url: str, *, prefix: str = "correspondent:") -> None:
        self._redis = _client(url, HANDY_S)
        self._thorough = _client(url, THOROUGH_S)
        self._prefix = prefix
        self._is_away = False

    async def get(self, key: str) -> str | None:
        """The text kept under `key`, or None."""
        found = await self._asked(self._redis.get(self._prefix + key))
        return found.decode() if isinstance(found, bytes) else found

    async def put(self, key: str, value: str, *, seconds: int) -> None:
        """Keep `value` for `seconds`."""
        await self._asked(self._redis.set(self._prefix + key, value, ex=seconds))

    async def drop(self, *keys: str) -> None:
        """Forget keys."""
        await self._asked(self._redis.delete(*(self._prefix + key for key in keys)))

    async def through(self, key: str, load: Callable[[], Awaitable[str]], *, seconds: int) -> str:
        """The kept text, or what `load` gives, which is then kept."""
        found = await self.get(key)
        if found is None:
            found = await load()
            await self.put(key, found, seconds=seconds)
        return found

    async def drop_about(self, ids: Collection[str]) -> None:
        """Forget every key that names one of the ids, whoever put it there. Raises where the server is away."""
        await self._delete([key for key in await self._keys() if any(id in key for id in ids)])

    async def drop_all(self) -> None:
        """Forget every key, whoever put it there. Raises where the server is away."""
        await self._delete(await self._keys())

    async def everything(self) -> AsyncIterator[tuple[str, str]]:
        """Every key of the server with its value, whoever put it there; what is no text as its dump. Raises."""
        async for name in self._thorough.scan_iter(count=1000):
            try:
                value = await self._thorough.get(name)
            except ResponseError:
                value = ascii(await self._thorough.dump(name))
            yield str(name), str(value)

    async def answers(self) -> bool:
        """Whether the server is there."""
        try:
            return bool(await self._redis.ping())
        except (RedisError, OSError):
            return False

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()
        await self._thorough.aclose()

    async def _asked(self, answer: Awaitable[Any]) -> Any:
        """The answer, or None. That the server is away is said once, and not for each of a mail's many reads."""
        try:
            found = await answer
        except (RedisError, OSError) as error:
            if not self._is_away:
                log.warning("cache away, tables are read instead", error=str(error))
            self._is_away = True
            return None
        if self._is_away:
            log.info("cache answers again")
        self._is_away = False
        return found

    async def _keys(self) -> list[str]:
        return [str(key) async for key in self._thorough.scan_iter(match=f"{self._prefix}*", count=1000)]

    async def _delete(self, names: list[str]) -> None:
        if names:
            await self._thorough.delete(*names)


def _client(url: str, timeout_s: float) -> Redis:
    return Redis.from_url(url, decode_responses=True, socket_timeout=timeout_s, socket_connect_timeout=timeout_s)
