"""Free TCP ports on the loopback interface.

Chosen below the range from which systems take ports for outgoing connections (32768 on Linux, 49152 on macOS): a
client that keeps calling a stopped server on a port of that range can connect to itself and so keep the server out.
A port that was given out is claimed by a lock on a file for as long as the process lives: between the choice and the
server's first bind nobody else, in this process or another, is given the same one.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

HOST = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000
_claimed: dict[int, int] = {}  # port: the descriptor whose lock claims it


def is_free(port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port(preferred: int | None = None) -> int:
    """A port that is free now and claimed by nobody else: `preferred` if that one is."""
    if preferred is not None and is_free(preferred) and (preferred in _claimed or _claim(preferred)):
        return preferred
    while True:
        port = random.randrange(LOWEST, HIGHEST)
        if port not in _claimed and is_free(port) and _claim(port):
            return port


def _claim(port: int) -> bool:
    folder = Path(tempfile.gettempdir()) / f"correspondent-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / str(port), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    _claimed[port] = descriptor
    return True
