"""DKIM (RFC 6376, 8301, 8463) by dkimpy: every signature, up to a few, each with its domain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import dkim
import dkim.util

from services.core.mail.authentication.nouns import Dkim
from services.core.mail.authentication.resolver import DnsFailed, Resolver

MAX_SIGNATURES = 5


def check_dkim(raw: bytes, resolver: Resolver) -> tuple[Dkim, ...]:
    """The result of each signature, topmost first; () for none. Never raises."""
    try:
        message = dkim.DKIM(raw, timeout=0)
    except (dkim.DKIMException, ValueError, IndexError):
        return ()
    return tuple(_verify(message, i, tags, resolver) for i, tags in enumerate(_signatures(message)))


def keys_of(resolver: Resolver) -> Callable[..., bytes | None]:
    """The look-up of public keys as dkimpy calls it, through our resolver. Raises `DnsFailed`."""

    def txt(name: bytes | str, timeout: float = 0) -> bytes | None:
        wanted = name.decode("ascii") if isinstance(name, bytes) else name
        records = resolver.lookup(wanted, "TXT")
        return records[0].encode("latin-1", "replace") if records else None

    return txt


def _signatures(message: dkim.DKIM) -> Iterator[dict[str, str]]:
    """The tags that are told about each signature; empty where the header cannot be read."""
    values = [value for name, value in message.headers if name.lower() == b"dkim-signature"]
    for value in values[:MAX_SIGNATURES]:
        try:
            tags = dkim.util.parse_tag_value(value)
            yield {k.decode(): re.sub(r"\s", "", v.decode()) for k, v in tags.items()}
        except (dkim.util.InvalidTagValueList, ValueError):
            yield {}


def _verify(message: dkim.DKIM, index: int, tags: dict[str, str], resolver: Resolver) -> Dkim:
    domain = tags.get("d", "").rstrip(".").lower()
    if "l" in tags:
        return Dkim("permerror", domain, "l= leaves a part of the body unsigned")
    if tags.get("a") == "rsa-sha1":
        return Dkim("permerror", domain, "rsa-sha1 is retired (RFC 8301)")

    message.pk = None  # set by verify once the key is read
    try:
        if message.verify(idx=index, dnsfunc=keys_of(resolver)):
            return Dkim("pass", domain)
        return Dkim("fail", domain, "wrong signature") if message.pk else Dkim("permerror", domain, "no usable key")
    except DnsFailed as exc:
        return Dkim("temperror", domain, str(exc))
    except dkim.DKIMException as exc:
        return Dkim("fail", domain, str(exc))
    except Exception as exc:
        return Dkim("permerror", domain, type(exc).__name__)
