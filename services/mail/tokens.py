"""Reply tokens: what a customer's mail client gives back to us proves which thread a mail belongs to.

A token stands in the local part of our Message-ID (`c.TOKEN.SALT@domain`); it is read in a plus-address as well
(`support+TOKEN@domain`), which no mail of ours has. It carries the thread id and an HMAC-SHA256 over
workspace, thread and participant, so it neither opens another thread nor serves another person.
Base32 in lower case, because local parts are folded to lower case on their way.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from services.core.mailbox import MailboxKey, ascii_lower, domain_name

TAG_BYTES = 10  # 80 bits: an online guess, one mail each
_TOKEN = re.compile(r"^[a-z2-7]{42}$")
_OWN_LOCAL = re.compile(r"^c\.([a-z2-7]{42})\.[a-z0-9]+$")


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """Signing keys, newest first: the first signs, all verify. At least 16 bytes each.

    Raises ValueError for no key or a short one.
    """

    keys: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not self.keys or any(len(key) < 16 for key in self.keys):
            raise ValueError("signing keys: at least one is needed, and 16 bytes in each")


def make_token(signing_keys: SigningKeys, workspace: str, thread_id: uuid.UUID, participant: MailboxKey) -> str:
    """The token (42 characters) for one person in one thread."""
    return _encode(thread_id.bytes + _tag(signing_keys.keys[0], workspace, thread_id, participant))


def check_token(
    signing_keys: SigningKeys, token: str, workspace: str, participants: Sequence[MailboxKey]
) -> uuid.UUID | None:
    """The thread id that a token opens for any of `participants`, or None. Compared in constant time."""
    data = _decode(ascii_lower(token))
    if data is None:
        return None
    thread_id, tag = uuid.UUID(bytes=data[:16]), data[16:]
    fits = [hmac.compare_digest(tag, _tag(k, workspace, thread_id, p)) for k in signing_keys.keys for p in participants]
    return thread_id if any(fits) else None


def own_message_id(token: str, reply_id: uuid.UUID, domain: str) -> str:
    """Our Message-ID without angle brackets: the same for every attempt at the same reply."""
    salt = base64.b32encode(hashlib.sha256(reply_id.bytes).digest()[:10]).decode().casefold()
    return f"c.{token}.{salt}@{domain_name(domain) or ascii_lower(domain)}"


def token_of_message_id(message_id: str) -> str:
    """The token in a Message-ID of our making, or ""."""
    found = _OWN_LOCAL.match(ascii_lower(message_id.strip("<> ")).rpartition("@")[0])
    return found.group(1) if found else ""


def token_of_address(address: str) -> str:
    """The token in a plus-address (`support+TOKEN@example.org`), or ""."""
    detail = ascii_lower(address.rpartition("@")[0]).rpartition("+")[2]
    return detail if _TOKEN.match(detail) else ""


def without_token(address: str) -> str:
    """A plus-address of ours as it is without its token; any other address unchanged."""
    token, (local, _, domain) = token_of_address(address), address.rpartition("@")
    return f"{local[: -len(token) - 1]}@{domain}" if token else address


def _tag(key: bytes, workspace: str, thread_id: uuid.UUID, participant: MailboxKey) -> bytes:
    fields = (workspace.encode(), thread_id.bytes, MailboxKey(participant).encode())
    message = b"".join(len(f).to_bytes(4, "big") + f for f in fields)
    return hmac.new(key, b"correspondent reply token 1" + message, hashlib.sha256).digest()[:TAG_BYTES]


def _encode(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").casefold()


def _decode(token: str) -> bytes | None:
    if not _TOKEN.match(token):
        return None
    try:
        return base64.b32decode(token.upper() + "=" * (-len(token) % 8))
    except binascii.Error:
        return None
