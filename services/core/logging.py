"""Logs: one JSON object a line, or plain lines on a terminal. Each line of a handler carries its event and thread."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from services.core.clock import monotonic
from services.core.printable import printable

if "rich" not in sys.modules:  # structlog would load all that shows tracebacks in colour, which is not used here
    sys.modules["rich"] = None  # type: ignore[assignment]
    import structlog

    del sys.modules["rich"]
else:
    import structlog

OURS = ("services", "schemas", "deploy")
SHOWN_APART = ("event", "level", "timestamp", "logger", "exception")


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what is `sys.stderr` now.

    A handler that holds the stream of its start writes to a closed file once a program (a test, a command's runner) has
    put its own back; threads of Faust may log that late.
    """

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        """The stream of this moment."""
        return sys.stderr


def plain_line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """`20:31:07 warning: what happened  key=value`; information has no level before it, a traceback comes below.

    What is of several lines goes on behind a blank: a value that somebody else wrote begins no line of the log.
    """
    level = str(event.get("level", "info"))
    said = f"{str(event.get('timestamp', ''))[11:19]} {'' if level == 'info' else f'{level}: '}{event.get('event', '')}"
    fields = "  ".join(f"{key}={value}" for key, value in event.items() if key not in SHOWN_APART)
    line = f"{said}  {fields}" if fields else said
    return "\n  ".join((f"{line}\n{event['exception']}" if event.get("exception") else line).split("\n"))


def configure(*, level: str = "INFO", file: Path | None = None) -> None:
    """Set up structlog and the standard library's loggers, on stderr or into a `file`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.FileHandler(file, encoding="utf-8") if file else _Stderr()
    handler.addFilter(Repeats())
    steps: list[structlog.typing.Processor] = [structlog.processors.JSONRenderer()]
    if file is None and sys.stderr.isatty():
        steps = [_visible, plain_line]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *steps],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))  # libraries say what is wrong
    for ours in OURS:
        logging.getLogger(ours).setLevel(level)
    # That a timer of Faust's overlaps says that the machine is busy; how far a group is behind is shown by `status`.
    logging.getLogger("mode.timers").setLevel(logging.ERROR)


def _visible(
    logger: structlog.typing.WrappedLogger, name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """A line of a log on a terminal steers it no more than a command's output does."""
    return {key: printable(value, keep="\n\t") if isinstance(value, str) else value for key, value in event.items()}


# Lines that a library repeats while a server is away: the first of a kind is written, the rest of a minute is
# counted.
#
# aiokafka says four times a second, for each group, that it has no coordinator while a broker starts. A kind is the
# logger, the level and the format, so that other values in the same sentence are no news. The next line of the kind
# says how many were left out; nothing is kept but a count a kind.
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
