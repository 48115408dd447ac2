"""Waits until the house is at rest: every event on the log and done by every consumer of its topic, no timer near."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from services.core.clock import monotonic
from services.core.db import fetch_one, queries
from services.core.errors import Temporary
from services.core.house import House
from services.pipeline import consumers

SQL = queries(__file__)
LOOK_EVERY_S = 0.05
HORIZON = timedelta(seconds=30)  # a quiet period still counts as busy, a retry in a minute does not


class StillBusy(Temporary):
    """The house did not come to rest in time."""


async def unfinished(house: House) -> int:
    """How many (event, consumer) pairs and near timers are left to do."""
    pairs = consumers()
    args = {
        "topics": [topic for topic, _ in pairs],
        "consumers": [name for _, name in pairs],
        "until": house.now() + HORIZON,
    }
    async with house.database.reading() as conn:
        row = await fetch_one(conn, SQL.unfinished, args)
    assert row is not None
    return int(row["events"]) + int(row["timers"])


async def settle(house: House, *, timeout_s: float = 60) -> None:
    """Return when nothing is left to do. Raises `StillBusy`."""
    deadline = monotonic() + timeout_s
    while left := await unfinished(house):
        if monotonic() > deadline:
            raise StillBusy(f"{left} events or timers were left to do after {timeout_s:g} s")
        await asyncio.sleep(LOOK_EVERY_S)
