"""Header values as they stand on the wire: no control character from anybody, folded, encoded only where needed.

Headers are written here and not by `email.message`, which in Python 3.11 decodes an encoded word in a
value and lets its line feed through (CVE-2024-6923), and encodes long Message-IDs into words nobody matches.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from email.header import Header
from email.utils import format_datetime

from services.mail.compose.outgoing import ComposeRefused
from services.mail.mailbox import domain_name
from services.mail.message import Address
from services.mail.subjects import without_reply_prefixes

MAX_REFERENCES = 20
MAX_SUBJECT_CHARS = 300
_ATOM = r"[^\s<>()\[\]\\,;:@\"\x00-\x20\x7f]+"
_ADDR_SPEC = re.compile(rf"^{_ATOM}@{_ATOM}$")
_DOMAIN = re.compile(
    r"^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", re.I
)
_MESSAGE_ID = re.compile(r"^[^\s<>\x00-\x20\x7f-\U0010ffff]{1,250}@[^\s<>@\x00-\x20\x7f-\U0010ffff]{1,250}$")


def plain(value: str) -> str:
    """A value on one line without control, format (bidi) and separator characters; lone surrogates replaced."""
    kept = "".join(" " if _breaks(c) else c for c in value if unicodedata.category(c) not in ("Cf", "Cs"))
    return " ".join(kept.split())


def _breaks(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Zl", "Zp")


def text_value(value: str, name: str) -> str:
    """An unstructured value (RFC 5322 section 3.2.5), as RFC 2047 words where it is not short plain ASCII."""
    value = plain(value)
    if value.isascii() and "=?" not in value and len(name) + len(value) < 76:
        return value
    return Header(value, "utf-8", header_name=name, maxlinelen=75).encode(linesep="\r\n")


def reply_subject(subject: str) -> str:
    """The subject with one `Re:` in front, whatever prefixes it had."""
    base = without_reply_prefixes(plain(subject))[:MAX_SUBJECT_CHARS].rstrip()
    return f"Re: {base}".rstrip()


def addr_spec(address: str) -> str:
    """One address as envelope and header have it, its domain in A-labels. Raises ComposeRefused for anything else."""
    local, _, domain = address.rpartition("@")
    if not _ADDR_SPEC.match(address) or len(local.encode()) > 64 or local.startswith("-"):
        raise ComposeRefused(f"{plain(address)[:80]!r} is not one plain address")
    ascii_domain = domain_name(domain)
    if not _DOMAIN.match(ascii_domain):
        raise ComposeRefused(f"{plain(domain)[:80]!r} is not a domain")
    return f"{local}@{ascii_domain}"


def mailbox(address: Address) -> str:
    """A display name and the address. A name that itself looks like an address is left out: it would mislead."""
    spec, name = addr_spec(address.addr), plain(address.name)
    if not name or "@" in name:
        return spec
    quoted = '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
    short = name.isascii() and "=?" not in name and len(quoted) < 60
    shown = quoted if short else Header(name, "utf-8", maxlinelen=60).encode(linesep="\r\n")
    return f"{shown}\r\n <{spec}>" if len(shown) + len(spec) > 60 else f"{shown} <{spec}>"


def id_list(ids: Sequence[str]) -> str:
    """Message-IDs in angle brackets, one a line; those that are none are left out (RFC 5322 section 3.6.4)."""
    return "\r\n ".join(f"<{i}>" for i in ids if _MESSAGE_ID.match(i))


def references(earlier: Sequence[str], parent: str) -> tuple[str, ...]:
    """The References of a reply: the first id and the newest, the middle trimmed, `parent` last."""
    chain = [i for i in dict.fromkeys(earlier) if i != parent and _MESSAGE_ID.match(i)]
    chain += [parent] if _MESSAGE_ID.match(parent) else []
    return tuple(chain if len(chain) <= MAX_REFERENCES else chain[:1] + chain[1 - MAX_REFERENCES :])


def date_value(moment: datetime) -> str:
    """RFC 5322 date-time. Raises ComposeRefused for a naive datetime."""
    if moment.tzinfo is None:
        raise ComposeRefused("the date has no time zone")
    return format_datetime(moment)
