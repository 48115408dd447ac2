"""What is to be sent (`Outgoing`), and the mail that came of it (`Composed`)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime

from services.core.errors import Permanent
from services.mail.message import Address
from services.mail.unsubscribe import Unsubscribe


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
