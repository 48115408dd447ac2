"""Starts the deployment's processes by fork from one that has imported everything: a tenth of a second instead of seconds.

They are processes of the system like any other: with a log, an environment and a death of their own. They die with
the nursery, and the nursery dies with the run that it works for.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from deploy.local.processes import supervised
from deploy.local.supervisor import tie_to

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Forked:
    """A process of the nursery's, as much like `subprocess.Popen` as workers need."""

    pid: int

    def poll(self) -> int | None:
        """None while it runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return -1
        return None

    def send_signal(self, number: int) -> None:
        """Signal it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 30) -> int:
        """Return when it is gone. Raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return -1


class Nursery:
    """The process from which others are forked; `with` starts and ends it. `module` has `main(arguments)`."""

    def __init__(self, module: str) -> None:
        self._command = [sys.executable, "-m", "tests.chaos.nursery", module]
        self._process: subprocess.Popen[str] | None = None

    def spawn(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Forked:
        """Fork a process that runs the module with these arguments."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"arguments": list(arguments), "environment": dict(environment), "log": str(log)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return Forked(int(self._process.stdout.readline()))

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            supervised(self._command, None, signal.SIGKILL),
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def main(module: str) -> None:
    """Fork a process for each line of stdin, and tell its pid; the kernel reaps them."""
    run: Callable[[list[str]], None] = __import__(module, fromlist=["main"]).main
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    nursery = os.getpid()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(run, json.loads(line), nursery)
        print(pid, flush=True)


def _become(run: Callable[[list[str]], None], order: dict[str, Any], nursery: int) -> NoReturn:
    code = 1
    try:
        tie_to(nursery, signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        output = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.clear()
        os.environ.update(order["environment"])
        run(order["arguments"])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
