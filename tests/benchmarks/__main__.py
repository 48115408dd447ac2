"""`make bench`: every benchmark, one after the other, and one Markdown table of what they measured."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = (
    "latency",
    "throughput",
    "concurrency",
    "scale",
    "memory_step",
    "thread_length",
    "model_cost",
    "mail",
    "recall_quality",
    "recall_cue",
    "recall_latency",
    "knowledge_rank",
    "replay",
    "sealing",
)


def main(arguments: list[str]) -> int:
    """Run each with these arguments; 1 if one of them failed or missed a target."""
    rows, worst = [], 0
    folder = Path(__file__).parent
    with tempfile.TemporaryDirectory() as aside:
        for name in NAMES:
            if not (folder / f"{name}.py").exists():
                continue
            out = Path(aside) / f"{name}.json"
            print(f"== {name}", flush=True)
            command = [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments, "--json", str(out)]
            worst = max(worst, subprocess.run(command, check=False).returncode)
            rows += [(name, line) for line in (json.loads(out.read_text()) if out.exists() else [])]
    print("\n| benchmark | line | value | target | met | n |\n|---|---|---|---|---|---|")
    for name, line in rows:
        met = {None: "", True: "yes", False: "**no**"}[line["met"]]
        target = "" if line["target"] is None else f"{line['target']:g}"
        print(
            f"| {name} | {line['name']} | {line['value']:.4g} {line['unit']} | {target} | {met} | {line['n'] or ''} |"
        )
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
