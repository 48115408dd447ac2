"""Checks of signatures that several formats share: freshness, equality, and Standard Webhooks.

Pure: the caller says what time it is. Comparisons take the same time whatever differs.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from datetime import datetime

from services.core.standard_webhooks import sign_standard
from services.receive_email.webhooks.request import Call, not_configured, stale, unsigned

TOLERANCE_S = 5 * 60


def check_fresh(timestamp: str, now: datetime) -> None:
    """Refuse a Unix time in seconds that is more than five minutes away from `now`, or no number."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12):
        raise stale("the timestamp is missing, or is not in Unix seconds")
    away = abs(now.timestamp() - int(timestamp))
    if away > TOLERANCE_S:
        raise stale(f"the timestamp is {away:.0f} s away from our clock; at most {TOLERANCE_S} s are allowed")


def same(given: bytes, expected: bytes) -> bool:
    """Whether two digests or secrets are equal, in constant time."""
    return hmac.compare_digest(given, expected)


def admit_standard(call: Call, secret: str, setting: str) -> None:
    """Refuse a call whose head cannot be that of one signed with `secret`, before its body is read."""
    if not secret:
        raise not_configured(setting)
    if not 0 < len(call.header("webhook-id")) <= 256:
        raise unsigned("the header webhook-id is missing or too long")
    check_fresh(call.header("webhook-timestamp"), call.now)
    if not call.header("webhook-signature").strip():
        raise unsigned("the header webhook-signature is missing")


def check_standard(call: Call, secret: str, setting: str) -> str:
    """The webhook-id of a fresh call that is signed with `secret`. Raises `Refused`."""
    admit_standard(call, secret, setting)
    webhook_id, timestamp = call.header("webhook-id"), call.header("webhook-timestamp")
    expected = sign_standard(secret, webhook_id, timestamp, call.body).encode()
    given = call.header("webhook-signature").split()[:8]
    if not any(same(one.encode(), expected) for one in given):
        raise unsigned("webhook-signature does not belong to this id, timestamp and body")
    return webhook_id


def base64_bytes(text: str) -> bytes:
    """The bytes of a strict base64 text; `b""`, which no signature is, where it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
