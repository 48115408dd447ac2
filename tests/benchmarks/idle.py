"""What a deployment costs that has nothing to do: CPU and database commits of `correspondent up` without mail.

CPU is that of our processes alone (user and system, of one core): the Python process with every processor, and each
part of the embedded stack. Commits are those that Postgres counts in our database, without the reads of the counters, and
without its own statistics: those write, so they take transaction ids, of which nobody else takes one where no row is written.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psutil
import psycopg

from deploy.local.endpoints import Endpoints, running_endpoints
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.support.stack import temporary_home

SETTLE_S, QUICK_SETTLE_S = 75.0, 70.0  # what a start still does: caches, first looks, statistics of Postgres
MEASURE_S, QUICK_MEASURE_S = 60.0, 30.0
START_S = 180.0
PROJECT = Path(__file__).parents[2]
MOST_CPU = 2.0  # percent of one core
MOST_COMMITS = 0.25  # a second: sweeps for what no notification told, health and vectors once a minute

MAIN = "from services.cli.main import main; main()"
IDS = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
ROWS = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint FROM pg_stat_user_tables"
COMMITS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"


@contextmanager
def deployment(home: Path) -> Iterator[tuple[psutil.Process, Endpoints]]:
    """`correspondent up` in a process of its own, running, and where its parts answer."""
    log = home / "up.log"
    command = [sys.executable, "-c", MAIN, "--home", str(home / "var"), "up"]
    with log.open("wb") as output:
        started = subprocess.Popen(command, cwd=PROJECT, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield psutil.Process(started.pid), _running(started, home / "var", log)
        finally:
            started.terminate()
            started.wait(90)


def _running(started: subprocess.Popen[bytes], home: Path, log: Path) -> Endpoints:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and started.poll() is None:
        if '"event": "running"' in log.read_text() and (found := running_endpoints(home)):
            return found
        time.sleep(0.5)
    raise SystemExit(f"`correspondent up` did not start:\n{log.read_text()[-3000:]}")


def cpu_seconds(process: psutil.Process) -> dict[str, float]:
    """CPU used so far, user and system, by name: our own process, and the trees of its children."""
    used = {"processors": own_seconds(process)}
    for child in process.children():
        used[child.name()] = used.get(child.name(), 0.0) + tree_seconds(child)
    return used


def tree_seconds(process: psutil.Process) -> float:
    """CPU used so far by a process and what it started, user and system."""
    return sum(own_seconds(one) for one in (process, *process.children(recursive=True)))


def own_seconds(process: psutil.Process) -> float:
    """CPU used so far by a process alone; 0 of one that is gone."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def measure(options: Options) -> Sequence[Measured]:
    """Percent of a core, and commits a second, over an idle minute."""
    seconds = QUICK_MEASURE_S if options.quick else MEASURE_S
    with temporary_home() as home, deployment(home) as (process, endpoints):
        time.sleep(QUICK_SETTLE_S if options.quick else SETTLE_S)
        with psycopg.connect(endpoints.database, autocommit=True) as conn:
            written, ids = _number(conn, ROWS), _number(conn, IDS)
            commits, used, began = _number(conn, COMMITS), cpu_seconds(process), time.monotonic()
            time.sleep(seconds)
            took, later = time.monotonic() - began, cpu_seconds(process)
            commits = _number(conn, COMMITS) - commits - 1
            written, ids = _number(conn, ROWS) - written, _number(conn, IDS) - ids
    percent = {name: 100 * max(0.0, later[name] - used.get(name, 0.0)) / took for name in later}
    return [
        at_most("every processor in one process, CPU of one core", percent["processors"], "%", MOST_CPU, 1),
        Measured("with the embedded servers", sum(percent.values()), "%", n=1, sides=percent),
        at_most("commits a second, of reads", (commits - ids) / took, "/s", MOST_COMMITS, commits - ids),
        at_most("rows that were written", float(written), "", 0, 1),
    ]


def _number(conn: psycopg.Connection[tuple[int]], query: LiteralString) -> int:
    row = conn.execute(query).fetchone()
    assert row is not None
    return row[0]


if __name__ == "__main__":
    sys.exit(run("idle", measure))
