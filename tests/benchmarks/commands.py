"""What a command costs that only looks: CPU of `correspondent --help` and of each query, asked of the demo.

CPU is that of the command's process alone (user and system), the median of seven calls after one that is not counted,
which compiles what was never loaded. `--quick`: three calls.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.integration.test_cli import COMMAND, environment
from tests.support.documented_demo import running_demo
from tests.support.queries import QUERIES, words_of

CALLS, QUICK_CALLS = 7, 3
MOST_HELP, MOST_QUERY = 0.3, 0.6  # seconds


def cpu_seconds(folder: Path, words: Sequence[str]) -> float:
    """CPU of one call, user and system. Raises `SystemExit` where it fails."""
    variables = {name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen([*COMMAND, *words], cwd=folder, env=variables, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"correspondent {' '.join(words)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def measure(options: Options) -> Sequence[Measured]:
    """Seconds of the help page, and of each query."""
    calls = QUICK_CALLS if options.quick else CALLS
    with running_demo() as demo:
        asked = {"--help": ["--help"], **{query: words_of(query, demo) for query in QUERIES}}
        used = {name: [cpu_seconds(demo.folder, words) for _ in range(calls + 1)][1:] for name, words in asked.items()}
    most = {name: MOST_HELP if name == "--help" else MOST_QUERY for name in asked}
    return [at_most(name, statistics.median(used[name]), "s", most[name], calls) for name in asked]


if __name__ == "__main__":
    sys.exit(run("commands", measure))
