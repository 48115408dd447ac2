"""What the stack must know about one of its parts; a part's module makes one for a folder and a port."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group of the system, by number; `passage` lets it read in folders that are closed to it (Linux)."""

    uid: int
    gid: int
    passage: bool = False


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
