"""Tokens of links and subjects in a mail, and the rating link: each names one mail, for one purpose alone.

A token is the mail's id with an HMAC-SHA256 over purpose, workspace and that id, in base32, so that nobody makes one
for a mail that we did not write; whoever has the mail may use it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from uuid import UUID

from services.mail.tokens import SigningKeys

TAG_BYTES = 10  # 80 bits: an online guess, one mail or request each
_TOKEN = re.compile(r"[a-z2-7]{42}")


def make_link_token(signing_keys: SigningKeys, purpose: bytes, workspace: str, id: UUID) -> str:
    """The token (42 characters) of one mail."""
    data = id.bytes + _tag(signing_keys.keys[0], purpose, workspace, id)
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


def named_by(signing_keys: SigningKeys, purpose: bytes, workspace: str, token: str) -> UUID | None:
    """The mail that a token is of, under any key; None where it is none of ours, or for something else."""
    if not _TOKEN.fullmatch(token):
        return None
    try:
        data = base64.b32decode(token.upper() + "=" * (-len(token) % 8))
    except binascii.Error:
        return None
    id, tag = UUID(bytes=data[:16]), data[16:]
    fits = [hmac.compare_digest(tag, _tag(key, purpose, workspace, id)) for key in signing_keys.keys]
    return id if any(fits) else None


def _tag(key: bytes, purpose: bytes, workspace: str, id: UUID) -> bytes:
    fields = (workspace.encode(), id.bytes)
    message = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return hmac.new(key, purpose + message, hashlib.sha256).digest()[:TAG_BYTES]


# The link in a reply by which whoever got it says whether it was a good answer.
PATH = "/rate"
PURPOSE = b"correspondent rating token 1"


def rating_link(signing_keys: SigningKeys, workspace: str, reply_id: UUID, base: str) -> str:
    """The link of one reply. It names the reply, and nobody."""
    return f"{base.rstrip('/')}{PATH}/{make_link_token(signing_keys, PURPOSE, workspace, reply_id)}"


def rated_by(signing_keys: SigningKeys, workspace: str, token: str) -> UUID | None:
    """The reply that a token is of; None where it is none of ours."""
    return named_by(signing_keys, PURPOSE, workspace, token)
