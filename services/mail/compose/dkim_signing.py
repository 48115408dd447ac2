"""DKIM signatures for what we send (RFC 6376, RFC 8463)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import dkim

from services.core.settings import DkimSettings
from services.mail.compose.wire import ComposeRefused

_SIGNED = (b"from", b"to", b"subject", b"date", b"message-id", b"in-reply-to", b"references", b"reply-to",
           b"mime-version", b"content-type", b"auto-submitted", b"list-unsubscribe",
           b"list-unsubscribe-post")  # fmt: skip


@dataclass(frozen=True, slots=True)
class DkimKey:
    """A private key: PEM for rsa (at least 1024 bits), the base64 of its 32-byte seed for ed25519."""

    domain: str
    selector: str
    private: bytes = field(repr=False)
    algorithm: Literal["rsa", "ed25519"] = "rsa"


def read_key(dkim: DkimSettings) -> DkimKey:
    """The key that the settings name. Raises `ComposeRefused` where its file cannot be read."""
    try:
        private = dkim.key_file.read_bytes().strip()
    except OSError as error:
        raise ComposeRefused(f"inboxes.dkim.key_file: {dkim.key_file} cannot be read: {error.strerror}") from error
    return DkimKey(dkim.domain, dkim.selector, private, dkim.algorithm)


def dkim_sign(raw: bytes, key: DkimKey) -> bytes:
    """The message with a DKIM-Signature in front; From, To and Subject are over-signed, so that none can be added.

    Raises ComposeRefused where the key cannot sign.
    """
    try:
        header: bytes = dkim.sign(
            raw,
            key.selector.encode(),
            key.domain.encode(),
            key.private,
            canonicalize=(b"relaxed", b"relaxed"),
            signature_algorithm=f"{key.algorithm}-sha256".encode(),
            include_headers=[*_SIGNED, b"from", b"to", b"cc", b"subject"],
        )
    except (dkim.DKIMException, ValueError, TypeError) as exc:
        raise ComposeRefused(f"the DKIM key {key.selector}._domainkey.{key.domain} cannot sign: {exc}") from exc
    return header + raw
