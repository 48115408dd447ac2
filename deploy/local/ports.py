"""Free TCP ports on the loopback interface.

Chosen below the range from which systems take ports for outgoing connections (32768 on Linux, 49152 on macOS): a
client that keeps calling a stopped server on a port of that range can connect to itself and so keep the server out.
"""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"
LOWEST, HIGHEST = 15_000, 32_000


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
    """A port that is free now, `preferred` if that one is."""
    if preferred is not None and is_free(preferred):
        return preferred
    while True:
        port = random.randrange(LOWEST, HIGHEST)
        if is_free(port):
            return port
