"""`bench-mail`: everything about mail, on corpora with known answers.

    python -m tests.benchmarks.mail [--quick] [--json FILE] [--data DIR]

DIR is laid out like `../shared/corpora`; what is absent is skipped and named. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from tests.benchmarks import mail_judging, mail_reading
from tests.benchmarks.measured import Measured
from tests.support.corpora import CORPORA as DATA

CORPORA = ("real-mail", "bounces", "reply-trimmer", "talon", "mime", "threading", "sender-auth")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a Markdown table, write JSON where asked; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mail", description="Mail, on the corpora.")
    parser.add_argument("--quick", action="store_true", help="judging only, without the reading half")
    parser.add_argument("--json", type=Path, help="write each measured line to this file")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder laid out like shared/corpora")
    given = parser.parse_args(arguments)
    for name in CORPORA:
        if not (given.data / name).exists():
            print(f"skipped: {name} is not in {given.data}", file=sys.stderr)
    lines = mail_judging.measure(given.data)
    lines += [] if given.quick else mail_reading.measure(given.data)
    print(table(lines))
    if given.json:
        given.json.write_text(json.dumps([dataclasses.asdict(line) for line in lines], indent=1) + "\n")
    return int(any(line.met is False for line in lines))


def table(lines: list[Measured]) -> str:
    """The lines as one Markdown table."""
    rows = ["| measured | value | target | met | n | sides |", "|---|---|---|---|---|---|"]
    for line in lines:
        met = {True: "yes", False: "NO", None: ""}[line.met]
        target = "" if line.target is None else f"{line.target:g}"
        sides = ", ".join(f"{k} {v:g}" for k, v in (line.sides or {}).items())
        rows.append(f"| {line.name} | {line.value:g} {line.unit} | {target} | {met} | {line.n or ''} | {sides} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
