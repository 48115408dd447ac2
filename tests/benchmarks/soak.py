"""An hour of mail at a steady pace: does anything grow that should not, and is the deployment as quiet after it as before?

A mail of a new person every `PAUSE_S`, in one process of every processor (see `outside`); each minute its memory, its
connections and the database's size are noted. `--quick`: five minutes. `MINUTES` says otherwise.

What grows with the mails (rows) may grow with the mails: bytes a mail of the last third against those of the first. What
does not (memory, connections, dead rows) is held against its own beginning, after a warm-up.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from services.core.db import fetch_one
from tests.benchmarks.idle import own_seconds
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.outside import Outside, deployed
from tests.benchmarks.recall_support import Options, run

PAUSE_S = 1.0
WARM_UP = 60  # mails: imports, caches and prepared statements
NOTED_EVERY_S = 60.0
QUIET_S = 45.0
MOST_GROWTH = 1.1
SIZES = """SELECT pg_database_size(current_database())::float / 1024 AS database_kb,
       (SELECT sum(n_dead_tup)::float / greatest(sum(n_live_tup), 1) FROM pg_stat_user_tables) AS dead,
       (SELECT sum(pg_indexes_size(relid))::float / greatest(sum(pg_table_size(relid)), 1) FROM pg_stat_user_tables) AS indexes,
       (SELECT count(*)::float FROM pg_stat_activity WHERE datname = current_database()) AS connections"""


@dataclass(frozen=True, slots=True)
class Note:
    """One minute's look: mails so far, MB of memory, kB of the database, dead rows, indexes by tables, connections."""

    mails: int
    rss_mb: float
    database_kb: float
    dead: float
    indexes: float
    connections: float


async def look(seen: Outside, mails: int) -> Note:
    """How large everything is now."""
    [worker] = seen.workers.running.values()
    async with seen.app.database.reading() as conn:
        row = await fetch_one(conn, SIZES)
    assert row is not None
    rss_mb = psutil.Process(worker.process.pid).memory_info().rss / 1024 / 1024
    return Note(mails, rss_mb, row["database_kb"], row["dead"], row["indexes"], row["connections"])


async def idle_percent(seen: Outside) -> float:
    """CPU of the process without mail, in percent of a core."""
    [worker] = seen.workers.running.values()
    process = psutil.Process(worker.process.pid)
    await asyncio.sleep(QUIET_S)
    before, began = own_seconds(process), time.monotonic()
    await asyncio.sleep(QUIET_S)
    return 100 * (own_seconds(process) - before) / (time.monotonic() - began)


async def steady(seen: Outside, seconds: float) -> list[Note]:
    """Mails at their pace for so long, and a note a minute; every mail has its reply on return."""
    began, notes, posted = time.monotonic(), [await look(seen, 0)], list[str]()
    while (now := time.monotonic()) < began + seconds:
        posted += await seen.send(1)
        if now >= began + len(notes) * NOTED_EVERY_S:
            notes.append(await look(seen, len(posted)))
        await asyncio.sleep(max(0.0, began + len(posted) * PAUSE_S - time.monotonic()))
    await seen.clock.until(posted)
    return [*notes, await look(seen, len(posted))]


async def measure(*, quick: bool) -> Sequence[Measured]:
    """What grew, against its own beginning."""
    seconds = 60 * float(os.environ.get("MINUTES", "5" if quick else "60"))
    async with deployed() as seen:
        since = await seen.newest()
        await seen.answered(WARM_UP)
        await seen.settled(since)
        quiet_before = await idle_percent(seen)
        since = await seen.newest()
        notes = await steady(seen, seconds)
        await seen.settled(since)
        quiet_after, failed = await idle_percent(seen), await seen.failed()
    third = max(1, len(notes) // 3)
    first, last, mails = notes[: third + 1], notes[-third - 1 :], notes[-1].mails
    rss = {side: statistics.median(one.rss_mb for one in part) for side, part in (("first", first), ("last", last))}
    grown = {side: _kb_a_mail(part) for side, part in (("first_kb", first), ("last_kb", last))}
    most = max(one.connections for one in notes)
    return [
        at_most("memory, last third / first", rss["last"] / rss["first"], "x", MOST_GROWTH, mails, rss),
        at_most("kB a mail, last third / first", grown["last_kb"] / grown["first_kb"], "x", MOST_GROWTH, mails, grown),
        at_most("connections, most / at the beginning", most / notes[0].connections, "x", 1.5, mails),
        Measured("dead rows / live rows at the end", notes[-1].dead, "x", n=mails),
        Measured("indexes / tables, bytes", notes[-1].indexes, "x", n=mails, sides={"before": notes[0].indexes}),
        at_most("idle CPU after", quiet_after, "%", max(2.0, 1.5 * quiet_before), mails, {"before": quiet_before}),
        Measured("turns that failed", failed, "", 0, failed == 0, mails),
    ]


def _kb_a_mail(notes: Sequence[Note]) -> float:
    return (notes[-1].database_kb - notes[0].database_kb) / max(1, notes[-1].mails - notes[0].mails)


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("soak", benchmark))
