"""A limit of CPU time for code that holds the interpreter: a regular expression that does not end is interrupted."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlow(AssertionError):
    """The work took more CPU time than it may."""


@contextmanager
def at_most(cpu_seconds: float, what: str = "the work") -> Iterator[Callable[[], float]]:
    """Raise `TooSlow` inside the block once this process has used that much CPU; gives what was used so far.

    The load of the machine does not count. Python's `re` looks for signals while it matches, so it is stopped too.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"{what}: more than {cpu_seconds} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield lambda: time.process_time() - started
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
