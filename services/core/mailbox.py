"""The mailbox key: the one form of an address that identities are compared by.

Two spellings are one mailbox where they differ in the case of ASCII letters, or in how the domain is spelled (IDNA:
`münchen.de` is `xn--mnchen-3ya.de`). Nothing else is folded: full case folding and normalization make one mailbox of
`weiß@` and `weiss@`, of `K` (the Kelvin sign) and `k`, of `ſam@` and `sam@`, of a ligature and its letters, and so show
one person's memory to another. A key is never written to: mail goes to the address as its owner wrote it.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import lru_cache
from typing import Self
from uuid import UUID

import idna

MAX_DOMAIN = 253  # characters of a domain name (RFC 1035)
ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_LITERAL = re.compile(r"\[[0-9A-Za-z:.\-]{1,100}\]\Z")
_LABELS = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\Z")


class MailboxKey(str):
    """What a mailbox is known by in ids, tables, reply tokens, suppressions, settings and erases.

    Made from any spelling of an address; a key made of a key is itself. Never raises: what is no address is a key that
    no mail has.
    """

    __slots__ = ()

    def __new__(cls, address: str) -> Self:
        """The key of an address as somebody wrote it."""
        if isinstance(address, cls):
            return address
        local, at, domain = address.strip().rpartition("@")
        return super().__new__(cls, f"{ascii_lower(local)}{at}{domain_name(domain) or ascii_lower(domain)}")

    @property
    def domain(self) -> str:
        """The domain in lower-case A-labels."""
        return self.rpartition("@")[2]

    @property
    def undetailed(self) -> MailboxKey:
        """The mailbox behind a plus-address."""
        local, at, domain = self.rpartition("@")
        return MailboxKey(f"{local.partition('+')[0]}{at}{domain}")


def ascii_lower(text: str) -> str:
    """The text with the letters A to Z in lower case, and every other character as it is."""
    return text.translate(ASCII_LOWER)


@lru_cache(maxsize=4096)
def domain_name(text: str) -> str:
    """The domain in lower-case A-labels (UTS 46), an address literal in lower case, or "" where it is neither."""
    if len(text) > MAX_DOMAIN + 1:
        return ""
    if text.startswith("["):
        return ascii_lower(text) if _LITERAL.match(text) else ""
    if not text.isascii():
        try:
            text = idna.encode(text, uts46=True, std3_rules=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return ""
    text = ascii_lower(text).removesuffix(".")
    return text if len(text) <= MAX_DOMAIN and _LABELS.match(text) else ""


# Domains at which anybody can have a mailbox: two addresses of one of them are not colleagues.
_FILE = importlib.resources.files("services.core") / "public_providers.txt"
PUBLIC_PROVIDERS = frozenset(_FILE.read_text(encoding="utf-8").split())


# Message-IDs of alerts to colleagues: known again in what answers one, or reports that one came back.
#
# They prove nothing and open nothing: who forges one has their own mail set aside.
_ALERT = re.compile(r"alert\.[0-9a-f]{32}@", re.IGNORECASE)


def alert_message_id(id: UUID, domain: str) -> str:
    """The Message-ID, without angle brackets, of the alert mail with this id."""
    return f"alert.{id.hex}@{domain_name(domain) or ascii_lower(domain)}"


def is_alert_id(message_id: str) -> bool:
    """Whether a Message-ID is one of ours for an alert."""
    return _ALERT.match(message_id.strip("<> ")) is not None
