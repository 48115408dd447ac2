"""Where the parts of a stack answer, kept in `endpoints.json` for other commands to find.

The file is for its owner alone (mode 600), for its URLs hold passwords. It is written only when every part has
answered, and stays after a stop so that the next start takes the same ports; whether the stack is alive is a question
for the lock and the ports, never for the file.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.ownership import is_owned

FILE = "endpoints.json"


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses of a running stack: Kafka `host:port`, URLs of the stores, the SMTP sink and its Maildir."""

    kafka: str
    database: str
    redis: str
    smtp_host: str
    smtp_port: int
    outbox: Path

    def ports(self) -> dict[str, tuple[str, int]]:
        """Host and port of each part."""
        host, _, port = self.kafka.rpartition(":")
        return {
            "kafka": (host, int(port)),
            "database": _address(self.database),
            "redis": _address(self.redis),
            "smtp": (self.smtp_host, self.smtp_port),
        }


def write_endpoints(home: Path, endpoints: Endpoints) -> None:
    """Keep `endpoints` under `home`, readable by its owner alone."""
    path = home / FILE
    path.touch(mode=0o600)
    path.write_text(json.dumps(asdict(endpoints), default=os.fspath, indent=2) + "\n")


def read_endpoints(home: Path) -> Endpoints | None:
    """The endpoints of the last run under `home`, alive or not; None where there are none, or a torn file."""
    try:
        values = json.loads((home / FILE).read_text())
        return Endpoints(**(values | {"outbox": Path(values["outbox"])}))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def forget_endpoints(home: Path) -> None:
    """Remove the file, so that nobody takes the last run's endpoints for those of a start under way."""
    (home / FILE).unlink(missing_ok=True)


def running_endpoints(home: Path) -> Endpoints | None:
    """The endpoints of the stack that now runs under `home`; None when none does or a part of it does not answer."""
    if not is_owned(home):
        return None
    endpoints = read_endpoints(home)
    if endpoints is None or not all(_listens(address) for address in endpoints.ports().values()):
        return None
    return endpoints


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 0


def _listens(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True
