"""What the three recall benchmarks share: options, a migrated database of their own, and how they report."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.local import EmbeddedStack
from services.core.db.migrate import migrate
from tests.support.stack import fresh_database, temporary_home

ROOT = Path(__file__).resolve().parents[2]


def corpora(given: Path | None) -> Path:
    """The folder with data that is not ours: `--data`, else the environment, else beside the project."""
    return given or Path(os.environ.get("CORRESPONDENT_CORPORA", ROOT.parent / "shared" / "corpora"))


@contextmanager
def migrated_database() -> Iterator[str]:
    """The URL of a migrated database on an embedded stack of its own, both gone afterwards."""
    with temporary_home() as home, EmbeddedStack(home) as endpoints, fresh_database(endpoints.database) as url:
        migrate(url)
        yield url


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured line."""

    name: str
    value: float
    unit: str
    target: float | None = None
    met: bool | None = None
    n: int | None = None
    sides: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How a benchmark was called."""

    quick: bool
    data: Path


def run(name: str, benchmark: Callable[[Options], Sequence[Measured]]) -> None:
    """Parses the command line, runs, prints a table, writes the JSON where one is asked for."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{name}")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    lines = benchmark(Options(given.quick, corpora(given.data)))
    for line in lines:
        verdict = "" if line.met is None else ("  met" if line.met else "  NOT met")
        print(f"{line.name:68} {line.value:10.3f} {line.unit}{verdict}")
    if given.json:
        given.json.write_text(json.dumps([asdict(line) for line in lines], indent=2))
