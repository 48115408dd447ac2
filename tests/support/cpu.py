"""A limit of CPU time for code that holds the interpreter: a regular expression that does not end is interrupted.

Seconds are those of a core that nothing else slows: two busy ones may share what they are made of, and a hired machine may have
half of one. How much slower this one is, a loop says that does the same everywhere.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType

LOOP, LOOP_S = 200_000, 0.010  # rounds of the loop, and the seconds that they take on such a core


class TooSlow(AssertionError):
    """The work took more CPU time than it may."""


@cache
def slowness() -> float:
    """How many times as long as on such a core the same takes here, from 1."""
    return max(1.0, min(_loop_s() for _ in range(5)) / LOOP_S)


def _loop_s() -> float:
    begun, total = time.process_time(), 0
    for number in range(LOOP):
        total += number * number % 7
    return time.process_time() - begun


@contextmanager
def at_most(cpu_seconds: float, what: str = "the work") -> Iterator[Callable[[], float]]:
    """Raise `TooSlow` inside the block once this process has used that much CPU; gives what was used so far.

    Neither the load of the machine counts nor how slow it is. Python's `re` looks for signals while it matches, so it is stopped too.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"{what}: more than {cpu_seconds} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    slower = slowness()
    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds * slower)
    try:
        yield lambda: (time.process_time() - started) / slower
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
