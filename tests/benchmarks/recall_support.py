"""What the three recall benchmarks share: options, a migrated database of their own, and how they report."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.local import EmbeddedStack, Endpoints
from services.core.db.migrate import migrate
from tests.benchmarks.measured import Measured, table
from tests.support.corpora import CORPORA
from tests.support.stack import fresh_database, temporary_home


@contextmanager
def embedded() -> Iterator[Endpoints]:
    """An embedded stack of its own, gone afterwards."""
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        yield endpoints


@contextmanager
def migrated_database() -> Iterator[str]:
    """The URL of a migrated database of its own, gone afterwards.

    It lies on the embedded Postgres (64 MB of shared buffers, for trial), or on the server whose URL the
    environment gives in CORRESPONDENT_BENCH_DATABASE.
    """
    given = os.environ.get("CORRESPONDENT_BENCH_DATABASE")
    with ExitStack() as stack:
        server = given or stack.enter_context(embedded()).database
        url = stack.enter_context(fresh_database(server))
        migrate(url)
        yield url


@dataclass(frozen=True, slots=True)
class Options:
    """How a benchmark was called."""

    quick: bool
    data: Path


def run(name: str, benchmark: Callable[[Options], Sequence[Measured]]) -> int:
    """Parse the command line, run, print a Markdown table, write the JSON where asked; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{name}")
    parser.add_argument("--quick", action="store_true", help="less data")
    parser.add_argument("--json", type=Path, help="write each measured line to this file")
    parser.add_argument("--data", type=Path, default=CORPORA, help="a folder laid out like shared/corpora")
    given = parser.parse_args()
    lines = benchmark(Options(given.quick, given.data))
    print(table(lines))
    if given.json:
        given.json.write_text(json.dumps([asdict(line) for line in lines], indent=1) + "\n")
    return int(any(line.met is False for line in lines))
