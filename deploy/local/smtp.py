"""The SMTP server of the embedded stack: the sink (`smtp_sink.py`) as a process of its own."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from deploy.local.part import Part
from deploy.local.ports import HOST

PROJECT = Path(__file__).parents[2]


def smtp_sink(outbox: Path, port: int) -> Part:
    """The sink on `port`, storing into the Maildir `outbox`."""
    argv = (sys.executable, "-m", "deploy.local.smtp_sink", "--port", str(port), "--outbox", str(outbox))
    python_path = os.pathsep.join(filter(None, (str(PROJECT), os.environ.get("PYTHONPATH"))))
    return Part(
        name="smtp",
        port=port,
        argv=argv,
        prepare=lambda: None,
        answers=lambda: _greets(port),
        environment={"PYTHONPATH": python_path},
    )


def _greets(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            return connection.recv(4).startswith(b"220")
    except OSError:
        return False
