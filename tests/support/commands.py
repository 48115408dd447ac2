"""Commands run as a shell would, without loading the program each time: a server that has loaded it forks for each.

What else runs in a process of its own can be forked from the same server.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2]
PLAIN = {"NO_COLOR": "1"}
TERMINAL = {"COLUMNS": "160", **PLAIN}
LONGEST_S = 300


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended, and all that it printed."""

    code: int | None  # None: it did not end in time
    printed: str

    @property
    def line(self) -> str:
        """What was printed, in one line."""
        return " ".join(self.printed.split())

    @property
    def told(self) -> str:
        """What was printed but for lines of a log: those also tell of what a process got over, with its traceback."""
        return "\n".join(line for line in self.printed.splitlines() if not line.startswith("{"))


def loaded_commands() -> ForkServerContext:
    """A server in which all that commands load, most of it when they run, is loaded; its children are the commands."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["services.process", *_modules("cli"), *_modules("operations")])
    with mock.patch.dict(os.environ, PLAIN):  # what draws tables looks at it while it is loaded
        forkserver.ensure_running()
    return context


def _modules(folder: str) -> list[str]:
    files = (path.relative_to(ROOT).with_suffix("").parts for path in (ROOT / "services" / folder).rglob("*.py"))
    return sorted(".".join(parts).removesuffix(".__init__") for parts in files)


def run(
    server: ForkServerContext, folder: Path, words: Sequence[str], *, typed: str = "", until: str = "", **variables: str
) -> Done:
    """`correspondent WORDS` in `folder`, with `typed` as its input; with `until`, Ctrl-C as soon as it has printed that."""
    output, given = folder / "output.txt", folder / "input.txt"
    output.write_text("")
    given.write_text(typed)
    process = server.Process(target=_command, args=(str(folder), list(words), variables))
    process.start()
    if until:
        _interrupt(process, output, until)
    process.join(LONGEST_S)
    if process.is_alive():
        process.kill()
        process.join()
        return Done(None, output.read_text(encoding="utf-8"))
    return Done(process.exitcode, output.read_text(encoding="utf-8"))


def _interrupt(process: ForkServerProcess, output: Path, until: str) -> None:
    deadline = time.monotonic() + LONGEST_S
    while until not in output.read_text(encoding="utf-8") and process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.1)
    if process.is_alive() and process.pid:
        os.kill(process.pid, signal.SIGINT)


def _command(folder: str, words: list[str], variables: dict[str, str]) -> None:
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith(("CORRESPONDENT_", "ANTHROPIC"))]:
        del os.environ[name]
    os.environ.update({**TERMINAL, **variables})
    for number, name, mode in ((0, "input.txt", os.O_RDONLY), (1, "output.txt", os.O_WRONLY), (2, "", 0)):
        os.dup2(os.open(name, mode) if name else 1, number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the rest of the process
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["correspondent", *words]
    from services.cli.main import main

    main()
