"""AES-256-GCM (NIST SP 800-38D) on bytes and on the JSON of an event. Pure, but for the nonce.

Invariants
- A nonce is random and used once; a key seals far fewer than the 2^32 messages that random nonces allow.
- What stays readable next to a sealed part is authenticated with it, and so is what the content belongs to: a sealed
  part that is moved to another event, or to another blob, does not open.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic_core import from_json

from services.core.clock import random_bytes
from services.core.errors import Permanent

KEY_BYTES = 32
NONCE_BYTES = 12
KEY, OF, SEALED = "$key", "$of", "$sealed"  # no field of an event can have such a name
_OURS = (KEY, OF, SEALED)
_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

Json = dict[str, Any]


class NotAuthentic(Permanent):
    """The content was sealed with another key, for another place, or was changed since."""


@dataclass(frozen=True, slots=True)
class SubjectKey:
    """The key of one set of people, by its id; the id says nothing of whose it is."""

    id: UUID
    secret: bytes = field(repr=False)


def seal(secret: bytes, content: bytes, about: bytes) -> bytes:
    """Nonce and ciphertext; `about` is authenticated with it and must be given again to open it."""
    nonce = random_bytes(NONCE_BYTES)
    return nonce + AESGCM(secret).encrypt(nonce, content, about)


def seal_again(key: SubjectKey, content: bytes) -> bytes:
    """The same box for the same content, so that storing it twice is storing it once.

    The nonce is made from the content: two contents would have to agree in 96 bits of an HMAC to share one.
    """
    nonce = hmac.new(hashlib.sha256(b"nonce\0" + key.secret).digest(), content, hashlib.sha256).digest()[:NONCE_BYTES]
    return nonce + AESGCM(key.secret).encrypt(nonce, content, key.id.bytes)


def unseal(secret: bytes, box: bytes, about: bytes) -> bytes:
    """The content of a box. Raises `NotAuthentic`."""
    try:
        return AESGCM(secret).decrypt(box[:NONCE_BYTES], box[NONCE_BYTES:], about)
    except (InvalidTag, ValueError):
        raise NotAuthentic from None


def seal_json(key: SubjectKey, clear: Mapping[str, Any], secret: Mapping[str, Any], *, of: str) -> Json:
    """`clear` as it is, and `secret` in a sealed part; `of` says what the whole belongs to, e.g. an event's id."""
    beside = {**clear, OF: of, KEY: str(key.id)}
    content = json.dumps(secret, ensure_ascii=False).encode("utf-8", "surrogatepass")
    box = seal(key.secret, content, _canonical(beside))
    return {**beside, SEALED: base64.b64encode(box).decode()}


def open_json(key: SubjectKey, value: Mapping[str, Any], *, of: str = "") -> Json:
    """All of it in the clear. Raises `NotAuthentic`, also where it belongs to something else than `of`."""
    if of and value.get(OF) != of:
        raise NotAuthentic(f"what was sealed for {value.get(OF)} stands at {of}")
    beside = {name: one for name, one in value.items() if name != SEALED}
    secret = from_json(unseal(key.secret, base64.b64decode(value[SEALED]), _canonical(beside)))
    return {**clear_part(value), **secret}


def clear_part(value: Mapping[str, Any]) -> Json:
    """What of it can be read without a key."""
    return {name: one for name, one in value.items() if name not in _OURS}


def shredded(value: Mapping[str, Any]) -> Json:
    """What is left of it when the sealed part is removed: it is sealed still, and nothing is inside."""
    return {**value, SEALED: ""}


def is_sealed(value: object) -> TypeGuard[Json]:
    """Whether it is JSON with a sealed part."""
    return isinstance(value, dict) and SEALED in value and KEY in value


def name_of(key: SubjectKey, content: bytes) -> str:
    """A name for the content that only who holds the key can guess (hex): HMAC-SHA256 under a key made from it."""
    return hmac.new(hashlib.sha256(b"name\0" + key.secret).digest(), content, hashlib.sha256).hexdigest()


def _canonical(value: Mapping[str, Any]) -> bytes:
    return _SORTED.encode(value).encode()
