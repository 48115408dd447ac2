"""DKIM (RFC 6376, 8301, 8463) by dkimpy: every signature, up to a few, each with its domain."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import dkim
import dkim.util
from dkim.canonicalization import CanonicalizationPolicy

from services.mail.authentication.resolver import DnsFailed, Resolver
from services.mail.authentication.results import Dkim, Signature
from services.mail.mailbox import ascii_lower, domain_name

MAX_SIGNATURES = 5
MOST_SEALS = 50  # RFC 8617, 4.2.1
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")


def check_dkim(raw: bytes, resolver: Resolver) -> tuple[Dkim, ...]:
    """The result of each signature, topmost first; () for none. Never raises."""
    try:
        message = dkim.DKIM(raw, timeout=0)
    except (dkim.DKIMException, ValueError, IndexError):
        return ()
    return tuple(_verify(message, i, told, resolver) for i, told in enumerate(_signatures(message)))


def keys_of(resolver: Resolver) -> Callable[..., bytes | None]:
    """The look-up of public keys as dkimpy calls it, through our resolver. Raises `DnsFailed`."""

    def txt(name: bytes | str, timeout: float = 0) -> bytes | None:
        wanted = name.decode("ascii") if isinstance(name, bytes) else name
        records = resolver.lookup(wanted, "TXT")
        return records[0].encode("latin-1", "replace") if records else None

    return txt


def signatures(raw: bytes) -> tuple[Signature, ...]:
    """What each signature of a mail says of itself, topmost first, checked or not; one more than are checked."""
    try:
        return tuple(told for _, told in _signatures(dkim.DKIM(raw, timeout=0), MAX_SIGNATURES + 1))
    except (dkim.DKIMException, ValueError, IndexError):
        return ()


def has_unreadable(raw: bytes) -> bool:
    """Whether a mail holds a signature that we cannot read: another program may have found that it holds."""
    head = _END_OF_HEAD.split(raw, maxsplit=1)[0].lower()
    return b"dkim-signature" in head and (not (found := signatures(raw)) or any(not one.digest for one in found))


def message_signature(raw: bytes, instance: int) -> Signature | None:
    """What the ARC-Message-Signature of one instance covers (RFC 8617, 4.1.2); None unless it stands there once."""
    found = _signatures(dkim.DKIM(raw, timeout=0), MOST_SEALS, b"arc-message-signature")
    of_it = [told for tags, told in found if tags.get("i") == str(instance)]
    return of_it[0] if len(of_it) == 1 else None


def _signatures(
    message: dkim.DKIM, most: int = MAX_SIGNATURES, header: bytes = b"dkim-signature"
) -> Iterator[tuple[dict[str, str], Signature]]:
    """The tags of each signature, and what they tell; empty where the header cannot be read."""
    fields = [(name, value) for name, value in message.headers if name.lower() == header]
    for field in fields[:most]:
        try:
            tags = dkim.util.parse_tag_value(field[1])
            read = {k.decode(): re.sub(r"\s", "", v.decode()) for k, v in tags.items()}
        except (dkim.util.InvalidTagValueList, ValueError):
            read = {}
        yield read, _signature(read, signed_digest(message, field, read))


def _signature(tags: dict[str, str], digest: str) -> Signature:
    covers = frozenset(ascii_lower(tags.get("h", "")).split(":")) - {""}
    signed_at, expires_at = _moment(tags.get("t", "")), _moment(tags.get("x", ""))
    return Signature(domain_name(tags.get("d", "")), covers, signed_at, expires_at, "l" in tags, digest)


def _moment(seconds: str) -> datetime | None:
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) < 12):
        return None
    return datetime.fromtimestamp(int(seconds), UTC)


def _verify(message: dkim.DKIM, index: int, found: tuple[dict[str, str], Signature], resolver: Resolver) -> Dkim:
    tags, told = found
    domain = told.domain
    if told.partial:
        return Dkim("permerror", domain, "l= leaves a part of the body unsigned", told)
    if tags.get("a") == "rsa-sha1":
        return Dkim("permerror", domain, "rsa-sha1 is retired (RFC 8301)", told)

    message.pk = None  # set by verify once the key is read
    try:
        if message.verify(idx=index, dnsfunc=keys_of(resolver)):
            return Dkim("pass", domain, signature=told)
        return Dkim("fail", domain, "wrong signature") if message.pk else Dkim("permerror", domain, "no usable key")
    except DnsFailed as exc:
        return Dkim("temperror", domain, str(exc))
    except dkim.DKIMException as exc:
        return Dkim("fail", domain, str(exc))
    except Exception as exc:
        return Dkim("permerror", domain, type(exc).__name__)


# What a DKIM signature was made over, as one digest: two mails of one digest are copies of one signed mail.
#
# Whoever passes a signed mail on may change what the signature leaves open (an uncovered Message-ID, the bytes of
# `b=` that no decoder minds), and nothing that goes into this digest: it is what the verifier hashes (RFC 6376, 3.7),
# the body by its `bh=`.
LENGTH = 32  # hex digits that are kept
_COLON = re.compile(rb"\s{0,99}:\s{0,99}")


def signed_digest(message: dkim.DKIM, field: tuple[bytes, bytes], tags: dict[str, str]) -> str:
    """The digest for one DKIM-Signature field of a message; "" where it cannot be told what it covers."""
    if not tags.get("bh") or not tags.get("h"):
        return ""
    covers = [one.strip().lower() for one in _COLON.split(tags["h"].encode())]
    try:
        policy = CanonicalizationPolicy.from_c_value((tags.get("c") or "simple/simple").encode())
        hasher = hashlib.sha256()
        headers = policy.canonicalize_headers(message.headers)
        dkim.hash_headers(hasher, policy, headers, [*covers, b"from"], field, {})
    except Exception:  # whatever the library makes of hostile bytes: then nothing is known of the signature
        return ""
    return hasher.hexdigest()[:LENGTH]
