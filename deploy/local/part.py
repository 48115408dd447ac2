"""What the stack must know about one of its parts; a part's module makes one for a folder and a port."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.supervisor import FOLDER_DESCRIPTOR

OPEN_FOLDER = Path(f"/proc/self/fd/{FOLDER_DESCRIPTOR}")


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group of the system, by number.

    `folder` is its own in a place that it could not enter: it is reached as `OPEN_FOLDER`, a descriptor (Linux).
    """

    uid: int
    gid: int
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A server process: how it is prepared, run, asked whether it is ready, and stopped.

    `prepare` makes folders and files before the start; `answers` is True once the server does its work for a client
    (it must not raise).
    """

    name: str
    port: int
    argv: tuple[str, ...]
    prepare: Callable[[], None]
    answers: Callable[[], bool]
    account: Account | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    environment: Mapping[str, str] = field(default_factory=dict)
