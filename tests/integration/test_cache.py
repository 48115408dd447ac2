"""The cache on a real server that answers late."""

from __future__ import annotations

from redis.asyncio import Redis

from deploy.local import Endpoints
from services.core.cache import HANDY_S, Cache

PAUSE_MS = int(HANDY_S * 3000)  # a reader gives up once, and so would whoever asks next


async def test_a_server_that_answers_late_is_missed_by_readers_and_awaited_by_who_forgets(
    stack: Endpoints, topic_prefix: str
) -> None:
    """A reader has a miss; what has to be forgotten is forgotten all the same."""
    cache = Cache(stack.redis, prefix=topic_prefix)
    async with Redis.from_url(stack.redis) as server:
        await server.set(f"{topic_prefix}brief:7", "text")
        await server.set(f"{topic_prefix}brief:8", "other")
        await server.client_pause(PAUSE_MS, all=True)
        assert await cache.get("brief:7") is None
        await cache.drop_about(["brief:7"])
        assert await server.mget(f"{topic_prefix}brief:7", f"{topic_prefix}brief:8") == [None, b"other"]
    await cache.close()
