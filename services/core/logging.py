"""Logs: one JSON object a line, or pretty on a terminal. Each line of a handler carries its event and thread."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(*, level: str = "INFO", pretty: bool | None = None) -> None:
    """Set up structlog and the standard library's loggers; `pretty` defaults to whether stderr is a terminal."""
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
    pretty = sys.stderr.isatty() if pretty is None else pretty
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if pretty else structlog.processors.JSONRenderer()
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("faust", "mode", "aiokafka", "httpx", "yoyo", "asyncio", "mail.log"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
