"""Real processes of the deployment: `python -m services NAME ...`, started, killed and stopped by tests.

A worker of Kafka that is killed leaves its group only when its session has timed out: 6 s on the embedded broker,
30 s on Apache Kafka. Each worker's log is kept, and what it last wrote is shown where a test fails.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from pydantic import SecretStr

from deploy.local.processes import supervised
from services.core.settings import Settings

ROOT = Path(__file__).parents[2]
READY = '"event": "running"'  # what `services.process` logs when every source has its partitions
PREFIX = "CORRESPONDENT_"


def environment_of(settings: Settings) -> dict[str, str]:
    """Environment variables that make another process read these settings."""
    values = settings.model_dump(exclude_defaults=True)  # a release of before does not know newer settings
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {**kept, **{f"{PREFIX}{name.upper()}": _written(value) for name, value in values.items()}}


class Process(Protocol):
    """What a worker needs of its process; `subprocess.Popen` has it."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float = ...) -> int: ...
    def send_signal(self, number: int) -> None: ...


Spawn = Callable[[Sequence[str], Mapping[str, str], Path], Process]


def spawn_services(names: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
    """`python -m services NAMES`, which dies with us."""
    with log.open("wb") as output:
        return subprocess.Popen(
            supervised([sys.executable, "-m", "services", *names], None, signal.SIGKILL),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


@dataclass(slots=True)
class Worker:
    """One process that runs some processors, known by its label."""

    label: str
    names: tuple[str, ...]
    log: Path
    process: Process
    mark: str = READY  # what its log says when it is at work; another release may say it otherwise

    def kill(self) -> None:
        """End it as a crash would (SIGKILL), and reap it."""
        self.process.kill()
        self.process.wait()

    def stop(self, grace_s: float = 30) -> int:
        """Tell it to end (SIGTERM); its exit code. It is killed where it does not."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def is_at_work(self) -> bool:
        """Whether it runs and has said that it is at work."""
        return self.process.poll() is None and self.mark in self.log.read_text(errors="replace")

    async def ready(self, timeout_s: float = 90) -> None:
        """Return when it says that it is at work. Raises AssertionError with its log where it ends or stays silent."""
        async with asyncio.timeout(timeout_s):
            while self.mark not in (text := self.log.read_text(errors="replace")):
                assert self.process.poll() is None, f"{self.label} ended while starting:\n{text[-3000:]}"
                await asyncio.sleep(0.05)

    def tail(self, lines: int = 30) -> str:
        """What it last wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@dataclass(slots=True)
class Workers:
    """The processes of one test, all gone when its `with` block ends; `spawn` is what starts one."""

    settings: Settings
    folder: Path
    spawn: Spawn = spawn_services
    running: dict[str, Worker] = field(default_factory=dict)
    starts: int = 0

    def start(self, *names: str, label: str = "") -> Worker:
        """Start a process of the named processors, known by its label (else their names) from now on."""
        self.starts += 1
        label = label or "+".join(names)
        log = self.folder / f"{self.starts:03}-{label[:40]}.log"
        process = self.spawn(names, environment_of(self.settings), log)
        self.running[label] = Worker(label, names, log, process)
        return self.running[label]

    def restart(self, label: str) -> Worker:
        """Kill the worker of this label, dead or alive, and start another in its place."""
        before = self.running[label]
        before.kill()
        return self.start(*before.names, label=label)

    async def ready(self) -> None:
        """Return when all that run are at work."""
        await asyncio.gather(*(worker.ready() for worker in self.running.values()))

    def tails(self) -> str:
        """What each of them last wrote, for a failure's message."""
        return "\n".join(f"--- {label}\n{worker.tail()}" for label, worker in self.running.items())

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.running.values():
            worker.kill()
        if kind is not None:
            print(self.tails())


def _written(value: Any) -> str:
    if isinstance(value, str | Path | SecretStr):
        return str(_plain(value))
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
