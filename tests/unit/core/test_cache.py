"""The cache: everything still works without it."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from redis.exceptions import ConnectionError as RedisGone
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisSlow
from structlog.testing import LogCapture

from services.core import cache as core_cache
from services.core.cache import Cache


class Kept:
    """A Redis in a dict that remembers how long each key is kept."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, int]] = {}

    async def get(self, key: str) -> str | None:
        return self.rows[key][0] if key in self.rows else None

    async def set(self, key: str, value: str, *, ex: int) -> None:
        self.rows[key] = (value, ex)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self.rows.pop(key, None)


class Gone:
    """A Redis that fails at everything."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any, **__: Any) -> None:
            raise self._error

        return fail


def cache(redis: Any) -> Cache:
    made = Cache("redis://127.0.0.1:1/0", prefix="test:")
    made._redis = redis
    return made


async def source() -> str:
    return "from the table"


async def test_a_server_that_was_away_was_said_for_each_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line when it goes and one when it is back, whatever is asked meanwhile."""
    there, gone, said = Kept(), Gone(RedisGone("gone")), LogCapture()
    monkeypatch.setattr(
        core_cache, "log", structlog.wrap_logger(None, [said], structlog.make_filtering_bound_logger(0))
    )
    one = cache(gone)
    for _ in range(20):
        assert await one.through("key", source, seconds=60) == "from the table"
    one._redis = there  # type: ignore[assignment]
    await one.through("key", source, seconds=60)
    assert [line["event"] for line in said.entries] == ["cache away, tables are read instead", "cache answers again"]


async def test_a_value_is_loaded_once() -> None:
    """What was loaded is kept for its time under its prefix, and not loaded again."""
    redis, asked = Kept(), []

    async def load() -> str:
        asked.append(1)
        return "value"

    kept = cache(redis)
    assert [await kept.through("key", load, seconds=60) for _ in range(3)] == ["value"] * 3
    assert len(asked) == 1
    assert redis.rows == {"test:key": ("value", 60)}


async def test_an_empty_text_is_a_value() -> None:
    """That there is nothing is known too, and not looked up again."""
    kept = cache(Kept())
    await kept.put("key", "", seconds=60)
    assert await kept.through("key", source, seconds=60) == ""


async def test_what_is_dropped_is_loaded_anew() -> None:
    """A dropped key is a miss."""
    kept = cache(Kept())
    await kept.put("key", "old", seconds=60)
    await kept.drop("key", "another")
    assert await kept.through("key", source, seconds=60) == "from the table"


@pytest.mark.parametrize(
    "error", [RedisGone("away"), RedisSlow("slow"), ResponseError("OOM"), ConnectionRefusedError(), OSError("reset")]
)
async def test_a_cache_that_is_away_is_an_empty_cache(error: Exception) -> None:
    """Whatever fails in Redis, reads miss, writes do nothing, and the table answers."""
    away = cache(Gone(error))
    assert await away.get("key") is None
    await away.put("key", "value", seconds=1)
    await away.drop("key")
    assert await away.through("key", source, seconds=60) == "from the table"


async def test_a_server_that_is_not_there_is_an_empty_cache() -> None:
    """A refused connection is no error of ours."""
    nobody = Cache("redis://127.0.0.1:1/0")
    assert await nobody.through("key", source, seconds=60) == "from the table"
    await nobody.close()
