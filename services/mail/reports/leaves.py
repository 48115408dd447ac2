"""The leaves of a raw message, flattened to text, as reports need them.

Unlike the reading of a customer's mail, a report's machine parts (`message/delivery-status`,
`message/feedback-report`, returned headers) are wanted as they stand. A returned message is
one leaf: what is inside it is about another mail. Never raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.mail import charsets, parts
from services.mail.html_text import html_to_text
from services.mail.message import Limits

MAX_CHARS_A_LEAF = 200_000
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
    """The textual leaves of a message in order; a multipart that cannot be split counts as plain text."""
    return tuple(_walk(parts.split(raw, Limits()).root))


def _walk(root: parts.Part) -> Iterator[Leaf]:
    waiting = [root]
    while waiting:
        part = waiting.pop()
        kind = part.content_type
        if kind.startswith("message/"):
            yield Leaf(kind, _text(part))
        elif part.children:
            waiting += reversed(part.children)
        elif kind.startswith(("text/", "multipart/")):
            text = _text(part)
            html = kind == "text/html"
            yield Leaf(kind if kind.startswith("text/") else "text/plain", html_to_text(text).text if html else text)


def _text(part: parts.Part) -> str:
    data = part.content()[: 2 * MAX_CHARS_A_LEAF]
    text = charsets.decode(data, part.parameters.get("charset", ""))[:MAX_CHARS_A_LEAF]
    return text.replace("\r\n", "\n").replace("\r", "\n")
