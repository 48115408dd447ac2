"""The doors of the running product: who has no token, or no signature, is refused before a body is read."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

from tests.security.campaign import Campaign
from tests.security.product import TOKEN

MEGABYTES = 64
WITHOUT: tuple[dict[str, str], ...] = (  # what somebody without the token may try instead of it
    {},
    {"authorization": ""},
    {"authorization": "Bearer"},
    {"authorization": f"Bearer {TOKEN[:-1]}"},
    {"authorization": f"Bearer {TOKEN}x"},
    {"authorization": f"Bearer {TOKEN.upper()}"},
    {"authorization": f"Basic {TOKEN}"},
    {"authorization": "Bearer \u00ff"},
    {"x-api-key": TOKEN},
    {"cookie": f"token={TOKEN}; authorization=Bearer {TOKEN}"},
    {"x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1"},
    {"x-http-method-override": "GET", "x-original-url": "/healthz", "x-rewrite-url": "/healthz"},
    {"host": "localhost", "origin": "http://localhost"},
)
PATHS = (
    "/api/threads", "/api/threads/", "//api/threads", "/api//threads", "/API/threads", "/api/./threads", "/healthz/../api/threads",
    "/api/%74hreads", "/%61pi/threads", "/api/threads;x", "/api/threads%2f", "/api/threads?token=" + TOKEN,
    "/api/threads?access_token=" + TOKEN, "/api/participants", "/api/drafts", "/api/documents", "/api/threads%00",
)  # fmt: skip

ENDLESS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/api/threads/00000000-0000-0000-0000-000000000000/notes", {}),
    ("/api/documents", {"authorization": "Bearer wrong"}),
    ("/inbound/raw?inbox=support", {}),
    ("/inbound/raw?inbox=support", {"webhook-id": "x", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}),
    ("/inbound/mailgun?inbox=support", {}),
    ("/inbound/ses?inbox=support", {}),
    ("/inbound/postmark?inbox=support", {}),
    ("/inbound/sendgrid?inbox=support", {}),
    ("/inbound/nothing?inbox=support", {}),
    ("/nowhere", {}),
    ("/healthz", {}),
)


def asked(campaign: Campaign, method: str, path: str) -> tuple[int, bytes]:
    """A request byte for byte: a client would tidy the path up."""
    with _connected(campaign) as connection:
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        return _answer(connection)


def pushed(campaign: Campaign, path: str, headers: dict[str, str]) -> tuple[int, int]:
    """The status of a request whose body does not end, and how many bytes of it were taken."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: message/rfc822\r\n{lines}\r\n"
    )
    chunk = b"10000\r\n" + b"[" * 0x10000 + b"\r\n"
    taken = 0
    with _connected(campaign) as connection:
        connection.sendall(head.encode())
        connection.settimeout(5)
        try:
            while taken < MEGABYTES * 2**20:
                taken += connection.send(chunk)
        except OSError:
            pass  # it answered and closed the connection, or reads no more
        connection.settimeout(60)
        try:
            return _answer(connection)[0], taken
        except ConnectionError:
            return 499, taken  # closed with our bytes unread: its answer is lost on the way (RFC 9112, 9.6)


def _connected(campaign: Campaign) -> socket.socket:
    port = urlsplit(campaign.product.web).port
    assert port
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def _answer(connection: socket.socket) -> tuple[int, bytes]:
    said, until = b"", time.monotonic() + 60
    while b"\r\n\r\n" not in said and time.monotonic() < until and (more := connection.recv(65536)):
        said += more
    if not said:
        raise ConnectionResetError("closed without an answer")
    return int(said.split(b" ", 2)[1]), said.partition(b"\r\n\r\n")[2]
