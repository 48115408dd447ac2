"""Signatures of webhooks that programs send each other: Standard Webhooks 1.0, symmetric. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac

SECRET_PREFIX = "whsec_"


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104)."""
    return hmac.new(key, content, hashlib.sha256).digest()


def secret_bytes(secret: str) -> bytes:
    """The key in a secret: base64 after `whsec_`, else the text itself. Raises ValueError for what is no base64."""
    if not secret.startswith(SECRET_PREFIX):
        return secret.encode()
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)


def secret_of(key: bytes) -> str:
    """The secret that holds a key."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def sign_standard(secret: str, webhook_id: str, timestamp: str, body: bytes) -> str:
    """The header `webhook-signature` of a call that came in; `timestamp` is in Unix seconds.

    A mail's bytes need be no text, which the library that signs what goes out (`signed_post`) takes alone.
    """
    content = f"{webhook_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac_sha256(secret_bytes(secret), content)).decode()
