"""Run the embedded stack in the foreground until Ctrl-C: `python -m deploy.local [--home FOLDER]`."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from deploy.local.endpoints import FILE
from deploy.local.errors import EmbeddedStackFailed
from deploy.local.stack import DEFAULT_HOME, EmbeddedStack


def main() -> int:
    """Start, say where everything is, wait, stop; 1 when it could not start."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m deploy.local")
    parser.add_argument("--home", type=Path, default=DEFAULT_HOME, help="where data and logs are kept")
    parser.add_argument("--kafka", default="embedded", help="embedded, apache, or HOST:PORT of one that runs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        stack = EmbeddedStack(arguments.home, report=lambda line: print(line, flush=True), kafka=arguments.kafka)
        with stack:
            print(f"Embedded stack, for trial and small inboxes: see {stack.home / FILE}; Ctrl-C stops it", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except EmbeddedStackFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
