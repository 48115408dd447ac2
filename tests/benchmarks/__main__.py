"""`make bench`: every benchmark, one after the other, and one Markdown table of what they measured."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.measured import Measured, table

NAMES = (
    "commands",
    "idle",
    "latency",
    "derived_memory",
    "cost",
    "throughput",
    "concurrency",
    "scale",
    "soak",
    "memory_step",
    "thread_length",
    "model_cost",
    "mail",
    "recall_quality",
    "recall_cue",
    "fact_stories",
    "recall_latency",
    "knowledge_rank",
    "offline_answers",
    "replay",
    "sealing",
    "history",
    "console",
    "two_years",
)


def main(arguments: list[str]) -> int:
    """Run each with these arguments; 1 if one of them failed or missed a target."""
    lines, worst = [], 0
    with tempfile.TemporaryDirectory() as aside:
        for name in NAMES:
            out = Path(aside) / f"{name}.json"
            print(f"== {name}", flush=True)
            command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments, "--json", str(out)]
            worst = max(worst, subprocess.run(command, check=False).returncode)
            lines += [_named(name, line) for line in (json.loads(out.read_text()) if out.exists() else [])]
    print(f"\n{table(lines)}")
    return worst


def _named(benchmark: str, line: dict[str, Any]) -> Measured:
    return Measured(**{**line, "name": f"{benchmark}: {line['name']}"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
