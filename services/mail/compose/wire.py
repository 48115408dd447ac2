"""Header values as they stand on the wire: no control character from anybody, folded, encoded only where needed.

Headers are written here and not by `email.message`, which in Python 3.11 decodes an encoded word in a
value and lets its line feed through (CVE-2024-6923), and encodes long Message-IDs into words nobody matches.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes
from email.header import Header, decode_header, make_header
from email.message import Message
from email.utils import format_datetime

from services.core.errors import Permanent
from services.core.mailbox import domain_name
from services.mail.addresses import parse_addresses
from services.mail.message import Address
from services.mail.thread_ids import without_reply_prefixes
from services.mail.unsubscribe import Unsubscribe

# What is to be sent (`Outgoing`), and the mail that came of it (`Composed`).


class ComposeRefused(Permanent):
    """The finished message would not hold exactly the headers and recipients that were meant."""


@dataclass(frozen=True, slots=True)
class Block:
    """An operator's text below a reply, such as a signature; `html` is the same for HTML readers, or ""."""

    text: str
    html: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file that goes out with a reply."""

    filename: str
    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One reply to one person, before it is a message.

    `recipient` is the authenticated author of the newest mail, set by code. `token` is theirs for this
    thread (`tokens.make_token`). `references` are those of the mail answered, oldest first; ids stand
    without angle brackets. `allowed_links` are hosts ("docs.example.org") or URL prefixes, `known_links` whole
    URLs that stand in the knowledge base. Below the reply stand the signature, the footer, and `quoted`, the mail that
    is answered, with `quote_intro` above it; each only when given. `cc` are the customer's colleagues who get a copy.
    """

    reply_id: uuid.UUID
    sender: Address
    recipient: Address
    subject: str
    text: str
    date: datetime
    token: str
    domain: str
    report_token: str = ""  # `report_tokens.make_report_token`; "" for none
    in_reply_to: str = ""
    references: tuple[str, ...] = ()
    envelope_from: str = ""  # where bounces go; "" for the sender
    allowed_links: tuple[str, ...] = ()
    known_links: frozenset[str] = frozenset()
    cc: tuple[Address, ...] = ()
    signature: Block = Block("")
    footer: Block = Block("")
    quoted: str = ""
    quote_intro: str = ""
    files: tuple[File, ...] = ()
    unsubscribe: Unsubscribe | None = None  # of mail that nobody asked for; the footer says how
    automatic: bool = True  # False for what a person wrote or approved word by word


@dataclass(frozen=True, slots=True)
class Composed:
    """A finished message: RFC 5322 bytes with CRLF, the same for the same `Outgoing`."""

    raw: bytes
    message_id: str  # without angle brackets
    envelope_from: str
    recipient: str
    text: str  # the whole plain part: what a person is shown for approval
    cc: tuple[str, ...]
    files: tuple[str, ...]  # their names
    smtputf8: bool  # an address needs RFC 6531; refuse a server that does not offer it


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


# The finished message, read again: it must hold exactly the headers and the recipient that were meant.
MAX_LINE_BYTES = 998
_MIME_HEADERS = ["mime-version", "content-type"]


def check(
    raw: bytes, meant: Sequence[tuple[str, str]], recipient: str, cc: Sequence[str] = (), *, files: int = 0
) -> None:
    """Raise ComposeRefused unless `raw` has the headers `meant`, in order, `recipient` and `cc` alone, and `files`.

    The bytes are looked at twice, as a parser sees them and as lines: what only one of them sees is an injection.
    """
    head, separator, _ = raw.partition(b"\r\n\r\n")
    lines = re.sub(rb"\r\n[ \t]+", b" ", head).split(b"\r\n")
    names = [line.partition(b":")[0].decode("utf-8", "replace").casefold() for line in lines]
    expected = [name.casefold() for name, _ in meant]
    if not separator or sorted(names) != sorted([*expected, *_MIME_HEADERS]):
        raise ComposeRefused(f"headers {names} instead of {expected}")
    if b"\r" in head.replace(b"\r\n", b"") or b"\n" in head.replace(b"\r\n", b"") or b"\0" in raw:
        raise ComposeRefused("a bare line break or NUL in the headers")
    if any(len(line) > MAX_LINE_BYTES for line in raw.split(b"\r\n")):
        raise ComposeRefused("a line is longer than 998 bytes")
    message = message_from_bytes(raw)
    _check_headers(message, meant, recipient, cc)
    _check_parts(message, files)


def _check_headers(message: Message, meant: Sequence[tuple[str, str]], recipient: str, cc: Sequence[str]) -> None:
    found = [(name.casefold(), _decoded(value)) for name, value in message.raw_items()]
    for name, value in meant:
        if [v for n, v in found if n == name.casefold()] != [_decoded(value)]:
            raise ComposeRefused(f"{name} does not read as it was meant")
    to = next(v for n, v in found if n == "to")
    if to.rpartition("<")[2].rstrip(">") != recipient:
        raise ComposeRefused("To is not the recipient that was meant")
    copies = parse_addresses(dict(message.raw_items()).get("Cc", ""))
    if [one.addr for one in copies.addresses] != list(cc) or copies.rejected:
        raise ComposeRefused("Cc is not the people that were meant")


def _check_parts(message: Message, files: int) -> None:
    """Plain text and HTML, and the files behind them."""
    parts = [one for one in message.walk() if not one.is_multipart()]
    types = [one.get_content_type() for one in parts[:2]]
    attached = [one.get_content_disposition() for one in parts[2:]]
    if any(one.defects for one in message.walk()) or types != ["text/plain", "text/html"]:
        raise ComposeRefused("the body is not the two parts that were meant")
    if attached != ["attachment"] * files:
        raise ComposeRefused("the files are not those that were meant")


def _decoded(value: str) -> str:
    """A header value as a reader sees it, white space aside."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(str(make_header(decode_header(re.sub(r"\r\n[ \t]", " ", text)))).split())
