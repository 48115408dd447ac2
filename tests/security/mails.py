"""Mails as bytes: what a person writes, what our own mail server writes above it, and what a forger writes instead."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import count

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.flow.scenario import AUTHSERV

_numbers = count(1)
KEY = rsa.generate_private_key(65537, 2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
)
PUBLIC = base64.b64encode(
    KEY.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
).decode()


def zone_of(*domains: str) -> dict[str, str]:
    """The TXT records of domains that sign with our key, and ask for nothing where DMARC fails: that is unproven mail."""
    records: dict[str, str] = {}
    for domain in domains:
        records[f"s1._domainkey.{domain}"] = f"v=DKIM1; k=rsa; p={PUBLIC}"
        records[f"_dmarc.{domain}"] = "v=DMARC1; p=none"
    return records


def results(domain: str, dmarc: str = "pass", *, dkim_result: str = "") -> str:
    """What our own server found of a mail; what fails is disowned by its domain."""
    policy = " (p=reject dis=none)" if dmarc == "fail" else ""
    return (
        f"{AUTHSERV}; dmarc={dmarc}{policy} header.from={domain}; dkim={dkim_result or dmarc} header.d={domain}; "
        f"spf={dmarc} smtp.mailfrom={domain}"
    )


@dataclass(frozen=True)
class RawMail:
    """A mail, and what a judge has to know of it: its Message-ID without brackets, and the address that From shows."""

    raw: bytes
    message_id: str
    author: str


def write(
    text: str,
    author: str,
    *,
    from_: str | None = None,
    message_id: str = "",
    subject: str = "The vault",
    to: str = "support@ourcompany.example",
    reply_to: str = "",
    above: tuple[str, ...] = (),
    headers: tuple[str, ...] = (),
    kind: str = "text/plain; charset=utf-8",
) -> RawMail:
    """A mail from `author`, whose From field is `from_` word for word where given.

    `above` are whole header lines that our own server wrote on top; `headers` stand among the sender's own.
    """
    message_id = message_id or f"m{next(_numbers)}@mails.example"
    lines = [
        *above,
        *([f"From: {author}"] if from_ is None else [f"From: {from_}"] if from_ else []),
        f"To: {to}",
        f"Subject: {subject}",
        f"Message-ID: <{message_id}>",
        f"Date: {format_datetime(datetime.now(UTC))}",
        *([f"In-Reply-To: <{reply_to}>", f"References: <{reply_to}>"] if reply_to else []),
        "MIME-Version: 1.0",
        f"Content-Type: {kind}",
        "Content-Transfer-Encoding: 8bit",
        *headers,
    ]
    raw = "\r\n".join([*lines, "", *text.split("\n"), ""]).encode("utf-8", "surrogateescape")
    return RawMail(raw, message_id, author)


def proven(text: str, author: str, **parts: object) -> RawMail:
    """A mail on which our own server found that DMARC passes."""
    domain = author.rpartition("@")[2].rstrip(">")
    return write(text, author, above=(f"Authentication-Results: {results(domain)}",), **parts)  # type: ignore[arg-type]


def signed(
    text: str, author: str, *, days_ago: float = 0, length: bool = False, over: tuple[bytes, ...] = (), **parts: object
) -> RawMail:
    """A mail with a DKIM signature of its author's domain, and no word of our own server."""
    message = write(text, author, **parts)  # type: ignore[arg-type]
    domain = author.rpartition("@")[2]
    chosen = over or (
        b"from",
        b"to",
        b"subject",
        b"message-id",
        b"date",
        b"in-reply-to",
        b"references",
        b"content-type",
    )
    present = [one for one in chosen if b"\r\n" + one + b":" in b"\r\n" + message.raw.lower()]
    when = int((datetime.now(UTC) - timedelta(days=days_ago)).timestamp())
    made = dkim.DKIM(message.raw, timeout=5)
    signature = made.sign(b"s1", domain.encode(), PEM, include_headers=present, length=length)
    if days_ago:
        signature = _signed_then(message.raw, domain, present, when)
    return RawMail(signature + message.raw, message.message_id, author)


def _signed_then(raw: bytes, domain: str, present: list[bytes], when: int) -> bytes:
    """A signature made at another time: dkimpy asks the clock, which is set for it."""
    import time
    from unittest.mock import patch

    with patch.object(time, "time", lambda: float(when)):
        return bytes(dkim.sign(raw, b"s1", domain.encode(), PEM, include_headers=present))


def on_top(message: RawMail, *lines: str) -> RawMail:
    """The mail with further header lines above it, as whoever passes it on may write them."""
    return RawMail("".join(f"{line}\r\n" for line in lines).encode() + message.raw, message.message_id, message.author)
