"""The nouns of mail: what a message is once it has been read.

All of them are frozen; reading a mail never raises, so what could not be read stands in `defects`
and what is over a limit in `parked`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from services.core.mailbox import MailboxKey


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one mail is read; what is over a limit is parked, with the reason."""

    total_bytes: int = 25 * 1024 * 1024
    header_bytes: int = 256 * 1024
    levels: int = 50
    parts: int = 1_000
    references: int = 100


@dataclass(frozen=True, slots=True)
class Address:
    """One mailbox: display name (decoded, no control characters) and addr-spec.

    The domain is lower case, in A-labels where it is international; the local part is kept as written.
    `key` is what identity is compared by.
    """

    name: str
    addr: str

    @property
    def key(self) -> MailboxKey:
        """The form that two spellings of one mailbox share."""
        return MailboxKey(self.addr)


@dataclass(frozen=True, slots=True)
class Attachment:
    """One part that is not the body; `content_type` is detected from the content, not claimed."""

    filename: str
    content_type: str
    claimed_type: str
    content_id: str
    inline: bool
    sha256: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReplyText:
    """The body, divided: new, quoted, signature. `new` is never empty when the mail has text."""

    new: str
    quoted: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ParsedMail:
    """One RFC 5322 message, read. Ids are without angle brackets; headers are decoded and in order.

    Take addresses from the address fields, never from `headers`: decoding there may uncover what only looks like one.
    """

    headers: tuple[tuple[str, str], ...]
    message_id: str
    in_reply_to: tuple[str, ...]
    references: tuple[str, ...]
    date: datetime | None
    subject: str
    author: Address | None  # the one From address; None when there is none or more than one
    from_: tuple[Address, ...]
    sender: tuple[Address, ...]
    reply_to: tuple[Address, ...]
    to: tuple[Address, ...]
    cc: tuple[Address, ...]
    text: str  # the whole body as plain text
    html: str
    reply: ReplyText
    language: str  # ISO 639-1, or "" where the text is too short to tell
    attachments: tuple[Attachment, ...]
    hidden_text: str = ""  # text an HTML body hid from its reader, removed from `text`
    defects: tuple[str, ...] = ()
    parked: str = ""  # the limit that was passed, in words; "" when the mail may go on
    _by_name: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Header values by name in lower case: the filters ask for some hundred names."""
        found = defaultdict[str, list[str]](list)
        for name, value in self.headers:
            found[name.casefold()].append(value)
        object.__setattr__(self, "_by_name", {name: tuple(values) for name, values in found.items()})

    def header(self, name: str) -> str:
        """The first value of a header, or ""."""
        return next(iter(self.all(name)), "")

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of a header, in order."""
        return self._by_name.get(name.casefold(), ())
