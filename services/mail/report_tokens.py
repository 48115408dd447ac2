"""Report tokens: what a bounce or complaint gives back to us proves that its sender was handed the mail itself.

A mail's Message-ID is copied into every answer to it, so it proves nothing. The token stands in a header of its own,
which mail systems give back in full and which no answer, quote or inline forward repeats. It is an HMAC-SHA256 over
workspace and reply, in base32.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import uuid

from services.mail.tokens import SigningKeys

HEADER = "X-Report-Token"
TAG_BYTES = 10  # 80 bits: an online guess, one mail each


def make_report_token(signing_keys: SigningKeys, workspace: str, reply_id: uuid.UUID) -> str:
    """The token (16 characters) of one reply, the same on every attempt."""
    return _token(signing_keys.keys[0], workspace, reply_id)


def is_report_token(signing_keys: SigningKeys, token: str, workspace: str, reply_id: uuid.UUID) -> bool:
    """Whether a token is this reply's, under any key."""
    given = token.encode("utf-8", "replace")
    return any(hmac.compare_digest(given, _token(key, workspace, reply_id).encode()) for key in signing_keys.keys)


def _token(key: bytes, workspace: str, reply_id: uuid.UUID) -> str:
    fields = (workspace.encode(), reply_id.bytes)
    message = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    tag = hmac.new(key, b"correspondent report token 1" + message, hashlib.sha256).digest()[:TAG_BYTES]
    return base64.b32encode(tag).decode("ascii").lower()
