"""What tells that two deliveries are the same mail: Message-ID and body, whatever the header gained on the way."""

from __future__ import annotations

import hashlib

from services.mail.headers import message_ids, split_block, unfold

HEADER_BYTES = 256 * 1024
_STAND_IN = ("date", "from", "subject")  # for a mail without a Message-ID


def message_id_of(raw: bytes) -> str:
    """The mail's first Message-ID, without angle brackets; "" where it has none. Never raises."""
    return _identity(raw)[0]


def fingerprint(raw: bytes) -> str:
    """sha256 in hex over Message-ID (else Date, From and Subject) and body.

    Line endings and white space at the end do not count, since a server that moved to another store may change them.
    """
    identity, body_at = _identified(raw)
    digest = hashlib.sha256("\0".join(identity).encode("utf-8", "surrogatepass"))
    digest.update(b"\0" + raw[body_at:].replace(b"\r\n", b"\n").rstrip())
    return digest.hexdigest()


def _identity(raw: bytes) -> tuple[str, ...]:
    return _identified(raw)[0]


def _identified(raw: bytes) -> tuple[tuple[str, ...], int]:
    fields, body_at, _ = split_block(raw, HEADER_BYTES)
    texts: dict[str, str] = {}
    for name, value in fields:
        texts.setdefault(name.casefold(), unfold(value))
    ids = message_ids(texts.get("message-id", ""))
    if ids:
        return (ids[0],), body_at
    return ("", *(texts.get(name, "") for name in _STAND_IN)), body_at
