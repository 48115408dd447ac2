"""The leaves of a raw message, flattened to text, as reports need them.

Unlike the reading of a customer's mail, a report's machine parts (`message/delivery-status`,
`message/feedback-report`, returned headers) are wanted as they stand. A returned message is
one leaf: what is inside it is about another mail. Never raises.
"""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message

from services.core.mail.reports.html_text import text_of_html

MAX_CHARS_A_PART = 200_000
MAX_PARTS = 200
RETURNED_TYPES = ("message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers")
STATUS_TYPES = ("message/delivery-status", "message/global-delivery-status")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf: its type in lower case and its text (decoded; HTML already reduced to text)."""

    content_type: str
    text: str

    @property
    def returned(self) -> bool:
        """Whether the leaf is the returned message, or its headers."""
        return self.content_type in RETURNED_TYPES


def leaves(raw: bytes) -> tuple[Leaf, ...]:
    """All leaves of a message in order, at most `MAX_PARTS`; () for what cannot be read at all."""
    try:
        found = []
        for leaf in _walk(email.message_from_bytes(raw)):
            found.append(leaf)
            if len(found) >= MAX_PARTS:
                break
        return tuple(found)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
        return ()


def _walk(part: Message) -> Iterator[Leaf]:
    kind = part.get_content_type()
    payload = part.get_payload()
    if kind in STATUS_TYPES or kind in RETURNED_TYPES or kind.startswith("message/"):
        yield Leaf(kind, _message_text(part)[:MAX_CHARS_A_PART])
    elif isinstance(payload, list):
        for child in payload:
            if isinstance(child, Message):
                yield from _walk(child)
    elif part.get_content_maintype() == "text":
        text = decoded(part)[:MAX_CHARS_A_PART]
        yield Leaf(kind, text_of_html(text) if kind == "text/html" else text)


def _message_text(part: Message) -> str:
    """A message/* part as lines; header groups are parted by blank lines, as RFC 3464 has them."""
    payload = part.get_payload()
    if not isinstance(payload, list):
        return decoded(part)
    blocks = []
    for child in payload:
        if isinstance(child, Message):
            lines = [f"{name}: {value}" for name, value in child.items()]
            body = child.get_payload()
            blocks.append("\n".join(lines) + ("\n\n" + body if isinstance(body, str) and body.strip() else ""))
    return "\n\n".join(blocks)


def decoded(part: Message) -> str:
    """The text of one leaf, whatever its charset claims."""
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, LookupError, AssertionError):
        payload = None
    data = payload if isinstance(payload, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    for charset in (str(part.get_content_charset("") or ""), "utf-8"):
        if charset:
            try:
                return _unix(data.decode(charset))
            except (LookupError, ValueError):
                continue
    return _unix(data.decode("iso-2022-jp" if b"\x1b$" in data else "latin-1", "replace"))


def _unix(text: str) -> str:
    return re.sub(r"\r\n?", "\n", text)
