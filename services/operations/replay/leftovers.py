"""What a sandbox stands on, by its name; and what one that was killed has left, which goes at the next replay or erase.

Invariant: the schema goes last, so as long as anything of a sandbox is left, its schema says so.
"""

from __future__ import annotations

import asyncio
import shutil
from datetime import datetime
from pathlib import Path

from services.core.cache import Cache
from services.core.settings import Settings
from services.operations.rebuild.run import SCHEMA
from services.operations.rebuild.shadow_schema import clear

NAMES = rf"^({SCHEMA}|replay_\d{{8}}_\d{{6}}_\d{{6}})$"  # what is made next to the live tables, and only for a while


def sandbox_name(at: datetime) -> str:
    """The name of a sandbox that is opened now: two at once have two schemas."""
    return f"replay_{at:%Y%m%d_%H%M%S_%f}"


def cache_of(settings: Settings, name: str) -> Cache:
    """The cache of a sandbox."""
    return Cache(settings.redis_url, prefix=f"{name}:")


def files_of(settings: Settings, name: str) -> Path:
    """The folder in which a sandbox writes."""
    return settings.home / "replay" / name


async def clear_up(settings: Settings, name: str) -> None:
    """Remove the cached texts and files of a sandbox. Raises where the cache's server is away."""
    await asyncio.to_thread(shutil.rmtree, files_of(settings, name), ignore_errors=True)
    cache = cache_of(settings, name)
    try:
        await cache.drop_all()
    finally:
        await cache.close()


async def clear_leftovers(settings: Settings) -> list[str]:
    """Remove what killed replays and rebuilds have left; the schemas of those that are running."""
    return await clear(settings.database_url, NAMES, lambda name: clear_up(settings, name))
