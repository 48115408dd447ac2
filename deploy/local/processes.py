"""Supervised child processes: they end with us, however we end, and a later run recognises what it finds of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import psutil

from deploy.local.part import Account, Part

SUPERVISOR = Path(__file__).with_name("supervisor.py")


class Child:
    """One running part. Spawn it from a thread that lives as long as it shall: Linux ties it to that thread."""

    def __init__(self, part: Part, log: Path) -> None:
        self.part = part
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                supervised(part.argv, part.account, part.stop_signal),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(part.environment),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def command_line(self) -> list[str]:
        """What it runs now: the supervisor at first, then the part, or what that became."""
        try:
            return psutil.Process(self.pid).cmdline()
        except psutil.Error:
            return list(self.part.argv)

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once, as a crash would (SIGKILL), and reap it."""
        self._process.kill()
        self._process.wait()

    def stop(self, grace: float = 15.0) -> None:
        """End it in its own clean way; after `grace` seconds, kill it."""
        if not self.is_alive():
            return
        self._process.send_signal(self.part.stop_signal)
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill()

    def log_tail(self, lines: int = 15) -> str:
        """The last lines that it wrote."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])


def supervised(argv: Sequence[str], account: Account | None, death_signal: signal.Signals) -> list[str]:
    """The command that becomes `argv` as `account`, tied to this process."""
    who = f"{account.uid}:{account.gid}" if account else "-"
    folder = str(account.folder) if account and account.folder else "-"
    return [sys.executable, "-I", "-S", str(SUPERVISOR), str(int(death_signal)), str(os.getpid()), who, folder, *argv]


def run_supervised(
    argv: Sequence[str], *, account: Account | None = None, environment: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, str]:
    """Run a command to its end, or to Ctrl-C in our terminal; its exit code and what it wrote."""
    done = subprocess.run(
        supervised(argv, account, signal.SIGKILL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
        env=_environment(environment),
        check=False,
    )
    return done.returncode, done.stdout


def end_recorded(commands: Mapping[int, Sequence[str]]) -> list[int]:
    """Kill what an earlier run left behind, known by pid and command line together; the pids that were ended.

    A pid that meanwhile belongs to another program is left alone. A recorded line may be the supervisor's, which
    ends in the part's own.
    """

    def is_ours(process: psutil.Process) -> bool:
        recorded, running = commands.get(process.pid), process.cmdline()
        return bool(recorded and running) and running == list(recorded or ())[-len(running) :]

    return _end(is_ours)


def end_working_in(folder: Path, program: str) -> list[int]:
    """Kill each process of the name `program` that works in `folder`; the pids that were ended."""
    return _end(lambda process: process.name() == program and Path(process.cwd()) == folder)


def _end(is_ours: Callable[[psutil.Process], bool]) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if is_ours(process):
                process.kill()
                found.append(process)
    psutil.wait_procs(found, timeout=10)
    return [process.pid for process in found]


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Ours without what changes the parts' behaviour, plus `extra`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LISTENER"))}
    return {**kept, "LC_ALL": "C.UTF-8", **extra}
