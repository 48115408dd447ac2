"""Lines that a library repeats while a server is away: the first of a kind is written, the rest of a minute is counted.

aiokafka says four times a second, for each group, that it has no coordinator while a broker starts. A kind is the
logger, the level and the format, so that other values in the same sentence are no news. The next line of the kind says
how many were left out; nothing is kept but a count a kind.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from services.core.clock import monotonic

EVERY_S = 60.0
MOST, LONGEST = 1000, 200  # kinds that are kept, and characters of each
LIBRARIES = ("aiokafka", "faust", "mode")


@dataclass(slots=True)
class _Kind:
    """When a line of this kind was written last, and how many were left out since."""

    written_at: float
    left_out: int = 0


class Repeats(logging.Filter):
    """A filter for a handler: it looks at the libraries' lines only, at any level."""

    def __init__(self, now: Callable[[], float] = monotonic, every_s: float = EVERY_S) -> None:
        super().__init__()
        self._now, self._every_s = now, every_s
        self._kinds: dict[tuple[str, int, str], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.name.partition(".")[0] not in LIBRARIES:
            return True
        now, place = self._now(), (record.name, record.levelno, str(record.msg)[:LONGEST])
        kind = self._kinds.get(place)
        if kind is not None and now - kind.written_at < self._every_s:
            kind.left_out += 1
            return False
        if kind is not None and kind.left_out:
            record.msg = f"{record.getMessage()} ({kind.left_out} lines like this were left out)"
            record.args = None
        if len(self._kinds) >= MOST:
            self._kinds.clear()
        self._kinds[place] = _Kind(now)
        return True
