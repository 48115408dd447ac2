"""Waits until the deployment is at rest: events on the log and done by each consumer of their topic, no timer near.

A command waits for what was stored `since` it began: a dead letter that waits for days does not hold it up.
"""

from __future__ import annotations

from datetime import timedelta

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.undone_events import not_done_args, pairs_of
from services.core.clock import until
from services.core.db import fetch_all, fetch_one, queries
from services.core.errors import Temporary

SQL = queries(__file__)
PATIENCE_S = 60.0
HORIZON = timedelta(seconds=30)  # a quiet period still counts as busy, a retry in a minute does not


class StillBusy(Temporary):
    """The deployment did not come to rest in time."""


async def newest(app: App) -> int:
    """The number (`seq`) of the newest stored event: what a command that begins now waits `since`."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.newest)
    assert row is not None
    return int(row["seq"])


async def left_to_do(app: App, *, since: int = 0) -> dict[str, int]:
    """How many events after `since` each consumer has not done, and under "timers" how many of those are near."""
    pairs = pairs_of(catalogue().consumers())
    async with app.database.reading() as conn:
        args = await not_done_args(conn, pairs)
        rows = await fetch_all(conn, SQL.unfinished, {**args, "until": app.now() + HORIZON, "since": since})
    return {row["consumer"]: int(row["count"]) for row in rows}


async def unfinished(app: App, *, since: int = 0) -> int:
    """How many (event, consumer) pairs of events after `since`, and near timers, are left to do."""
    return sum((await left_to_do(app, since=since)).values())


async def until_idle(app: App, *, since: int = 0, timeout_s: float | None = None) -> None:
    """Return when nothing that was stored after `since` is left to do, in `PATIENCE_S` or so. Raises `StillBusy`."""
    timeout_s = PATIENCE_S if timeout_s is None else timeout_s
    left: dict[str, int] = {}

    async def is_at_rest() -> bool:
        nonlocal left
        left = await left_to_do(app, since=since)
        return not left

    if not await until(is_at_rest, timeout_s):
        whose = ", ".join(f"{count} of {name}" for name, count in sorted(left.items()))
        raise StillBusy(f"events or timers were left to do after {timeout_s:g} s: {whose}")
