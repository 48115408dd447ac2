"""`python -m tests.chaos [--seed 7 | --seed 1-20] [--mails 200]`: seeded runs, judged; then a table of their figures.

`CORRESPONDENT_TEST_KAFKA=apache` runs them on Apache Kafka, else the embedded broker meets what it can stand. What a
run wrote is in `var/chaos/seed-N`; the figures of all runs that passed are kept in `var/chaos/figures.jsonl`.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.figures import keep, table
from tests.chaos.run import Ran, run
from tests.chaos.schedule import draw
from tests.support.stack import KAFKA, broker_under_test
from tests.support.workers import ROOT

FOLDER = ROOT / "var" / "chaos"


def main(arguments: list[str]) -> int:
    """Run the seeds, one after the other; the exit code is 1 where one failed."""
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    kafka = broker_under_test()
    failed = [seed for seed in _seeds(given.seed) if not _passes(seed, given.mails, kafka)]
    print(table(FOLDER))
    return 1 if failed else 0


def _passes(seed: int, mails: int, kafka: str) -> bool:
    schedule = draw(seed, mails, embedded=kafka == "embedded")
    print(schedule.text(), flush=True)
    folder = FOLDER / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "schedule.txt").write_text(schedule.text() + "\n")
    try:
        ran = asyncio.run(run(schedule, folder, kafka=kafka))
    except Exception:
        traceback.print_exc()
        return _failed(seed, mails, kafka, folder)
    print(ran.judged.line(seconds=round(ran.seconds), felt=dict(ran.felt)), flush=True)
    for fault in ran.judged.faults:
        print(f"  BROKEN: {fault}")
    for shortfall in ran.shortfalls:
        print(f"  PROVES LITTLE: {shortfall}")
    if ran.judged.faults or ran.shortfalls:
        return _failed(seed, mails, kafka, folder)
    _passed(ran, folder, kafka)
    return True


def _passed(ran: Ran, folder: Path, kafka: str) -> None:
    keep(FOLDER, ran, kafka)
    shutil.rmtree(folder)


def _failed(seed: int, mails: int, kafka: str, folder: Path) -> bool:
    again = f"{KAFKA}={kafka} python -m tests.chaos --seed {seed} --mails {mails}"
    print(f"seed {seed} FAILED; its logs are in {folder}; again: {again}", flush=True)
    return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", default="1", help="a seed, or several: 3, 1-20")
    parser.add_argument("--mails", type=int, default=200)
    return parser


def _seeds(text: str) -> Iterator[int]:
    first, _, last = text.partition("-")
    yield from range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
