"""What one answered mail costs, as counts, which other work on the machine does not move.

N mails at once through every processor in one process, a model that answers in 0 ms, until all that follows from them is
done. Counted: statements as our code sends them, transactions and WAL as Postgres says, rows of the journal by whether
their consumer did anything, and CPU seconds of our process and of the embedded servers. `--quick`: fewer mails.
`STATEMENTS=1` prints how often each statement was sent per mail.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psutil
import psycopg

from services.core.app import App
from services.core.db import fetch_one
from services.operations.idle import newest, until_idle
from tests.benchmarks.idle import cpu_seconds
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.outside import MOST_CPU_MS, MOST_SYNCS, REPORTED_S, post
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app

MAILS, QUICK_MAILS = 200, 40
WARM_UP = 10
PATIENCE_S = 1800.0

COUNTS = """
SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM journal) AS journal_rows,
       (SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname = current_database()) AS transactions,
       (SELECT wal_bytes / 1024 FROM pg_stat_wal) AS wal_kb,
       (SELECT pg_database_size(current_database()) / 1024) AS database_kb,
       (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal') AS wal_syncs,
       (SELECT count(*) FROM deliveries WHERE state = 'sent') AS sent"""


@contextmanager
def counted_statements() -> Iterator[Counter[str]]:
    """How often each statement is sent through psycopg's asynchronous cursors for the block; a row of many counts."""
    seen: Counter[str] = Counter()
    cursor = psycopg.AsyncCursor
    execute, many = cursor.execute, cursor.executemany

    @functools.wraps(execute)
    async def counting(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        seen[_short(query)] += 1
        return await execute(self, query, *args, **kwargs)

    @functools.wraps(many)
    async def counting_many(self: Any, query: Any, rows: Any, **kwargs: Any) -> Any:
        rows = list(rows)
        seen[_short(query)] += len(rows)
        return await many(self, query, rows, **kwargs)

    _set(cursor, execute=counting, executemany=counting_many)
    try:
        yield seen
    finally:
        _set(cursor, execute=execute, executemany=many)


def _set(owner: type, **methods: Callable[..., Any]) -> None:
    for name, method in methods.items():
        setattr(owner, name, method)


def _short(query: Any) -> str:
    return " ".join(str(query).split())[:100]


async def mails(app: App, first: int, count: int) -> float:
    """So many mails of new people at once, and all that follows; the seconds until the last reply was sent."""
    began, since, before = time.monotonic(), await newest(app), (await _counts(app))["sent"]
    await post(app, range(first, first + count))
    async with asyncio.timeout(PATIENCE_S):
        while (await _counts(app))["sent"] < before + count:
            await asyncio.sleep(0.5)
        took = time.monotonic() - began
        await until_idle(app, since=since, timeout_s=PATIENCE_S)
    return took


async def _counts(app: App) -> dict[str, float]:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, COUNTS)
    assert row is not None
    return {name: float(value) for name, value in row.items()}


async def measure(count: int) -> list[Measured]:
    """Each figure per answered mail."""
    process = psutil.Process()
    async with bench_app() as app:
        await mails(app, 0, WARM_UP)
        await asyncio.sleep(REPORTED_S)
        before, cpu = await _counts(app), cpu_seconds(process)
        with counted_statements() as seen:
            took = await mails(app, WARM_UP, count)
            spent = {name: used - cpu.get(name, 0.0) for name, used in cpu_seconds(process).items()}
            statements = dict(seen)
        await asyncio.sleep(REPORTED_S)
        after = await _counts(app)
    if os.environ.get("STATEMENTS"):
        for query, times in sorted(statements.items(), key=lambda one: -one[1]):
            print(f"{times / count:8.2f}  {query}")
    figures = {name: after[name] - before[name] for name in before if name not in {"sent", "wal_syncs"}}
    figures |= {"statements": sum(statements.values())}
    lines = [Measured(f"{name} a mail", value / count, "", n=count) for name, value in figures.items()]
    cpu_ms = {name: 1000 * used / count for name, used in spent.items()}
    lines += [
        at_most("waits for the disk a mail", (after["wal_syncs"] - before["wal_syncs"]) / count, "", MOST_SYNCS, count)
    ]
    lines += [at_most("CPU a mail, ours and the servers'", sum(cpu_ms.values()), "ms", MOST_CPU_MS, count, cpu_ms)]
    return [*lines, Measured("mails a second", count / took, "/s", n=count)]


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(int(os.environ.get("MAILS", QUICK_MAILS if options.quick else MAILS))))


if __name__ == "__main__":
    sys.exit(run("cost", benchmark))
