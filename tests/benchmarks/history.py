"""Start, status and lists at 1,000, 10,000 and 100,000 events (`--million`: at 1,000,000, too): what they read.

Rows are copied by SQL, as answered mails leave them. Pages of 8 kB and rows are counted from the plans as they were run,
so the figures say the same on any machine; milliseconds are this machine's.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from deploy.local import EmbeddedStack
from services.core.app import App, open_app
from services.core.bus.undone_events import advance, undone_places
from services.operations.preparation import prepare
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.support.app import settings_for
from tests.support.history import (
    EVENTS_A_MAIL,
    PAIRS,
    Read,
    asked_at_start,
    asked_by_lists,
    asked_by_status,
    fill,
    read_by,
)
from tests.support.stack import temporary_home

EVENTS = (1_000, 10_000, 100_000)
MILLION = 1_000_000
MOST_GROWTH = 3.0  # of rows read, from the second size on: the trees of indexes are deeper, pages are full
SMALL_TABLES = 200  # rows: what no history adds to, as the mark of each consumer, is read by an index or whole
PARTS = {"start": asked_at_start, "status": asked_by_status, "lists": asked_by_lists}


async def read_of(app: App) -> dict[str, Read]:
    """What each part reads in sum, and the whole tables among it."""
    found: dict[str, Read] = {}
    for part, asked in PARTS.items():
        each = [await read_by(app, one) for one in await asked(app)]
        found[part] = Read(sum(one.pages for one in each), sum(one.rows for one in each), ())
    return found


@asynccontextmanager
async def _quiet_app() -> AsyncIterator[App]:
    """A deployment on an embedded stack of its own in which nobody is at work."""
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        settings = settings_for(endpoints, endpoints.database, "bench.", home / "deployment")
        await prepare(settings)
        async with open_app(settings) as app:
            yield app


async def seconds_of_start(app: App) -> float:
    """How long it takes to learn what an embedded start publishes again."""
    begun = time.perf_counter()
    await advance(app, PAIRS)
    async with app.database.reading() as conn:
        assert await undone_places(conn, PAIRS) == []
    return time.perf_counter() - begun


async def measure(*, sizes: Sequence[int]) -> Sequence[Measured]:
    """What is read at each size, and how much more than at the size before the largest."""
    read: dict[int, dict[str, Read]] = {}
    lines: list[Measured] = []
    async with _quiet_app() as app:
        done = 0
        for size in sizes:
            mails = size // EVENTS_A_MAIL
            await fill(app, done, mails)
            done, read[size] = mails, await read_of(app)
            lines.append(Measured(f"start at {size:,} events", 1000 * await seconds_of_start(app), "ms", n=size))
    for part in PARTS:
        for size in sizes:
            one = read[size][part]
            lines.append(Measured(f"{part} at {size:,} events", one.rows, "rows", n=size, sides={"pages": one.pages}))
        less, more = read[sizes[min(1, len(sizes) - 2)]][part], read[sizes[-1]][part]
        grown = more.rows / max(less.rows, SMALL_TABLES)
        lines.append(at_most(f"{part}, growth", grown, "x", MOST_GROWTH, sizes[-1]))
    return lines


def benchmark(options: Options, *, million: bool) -> Sequence[Measured]:
    """The sizes that are asked for."""
    sizes = EVENTS[:2] if options.quick else EVENTS
    return asyncio.run(measure(sizes=(*sizes, MILLION) if million else sizes))


if __name__ == "__main__":
    wanted = "--million" in sys.argv
    sys.argv = [one for one in sys.argv if one != "--million"]
    sys.exit(run("history", partial(benchmark, million=wanted)))
