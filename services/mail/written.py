"""What a mail says, put together from the stretches of its body.

A stretch is what the parts of one multipart/alternative say, or one text part alone. Gateways and lists add a stretch
of plain text to a mail in HTML, and programs write HTML around a picture: whatever the forms, every stretch is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.mail.html_text import HtmlText, html_to_text
from services.mail.message import ReplyText
from services.mail.reply_text import split_reply, split_stretches

STUB_CHARACTERS, STUB_WORDS = 500, 4
MARKED_CHARACTERS = 500_000  # of HTML that is looked through for the marks of quotes next to plain text
SAID_CHARACTERS, SAID_SHARE = 20_000, 0.8
_WORD = re.compile(r"\w{1,40}")
_END_OF_DOCUMENT = re.compile(r"</(?:body|html)\s{0,9}>", re.IGNORECASE)


@dataclass(slots=True)
class Stretch:
    """The plain text and the HTML of a stretch; either may be missing."""

    plain: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Its plain text."""
        return "\n".join(text.strip("\n") for text in self.plain)


@dataclass(frozen=True, slots=True)
class Written:
    """The body as text and as HTML, what is new of it, and what its HTML hides."""

    text: str
    html: str
    reply: ReplyText
    seen: HtmlText


def read(stretches: Sequence[Stretch]) -> Written:
    """The body of all stretches."""
    html = _joined([document for one in stretches for document in one.html])
    seen = html_to_text(html) if html else HtmlText("")
    plain = "\n".join(text for one in stretches if (text := one.text()).strip())
    if seen.over or not html or not plain:
        text = plain or seen.text
        return Written(text, html, split_reply(text, "" if seen.over else html), seen)
    shown = _shown(stretches, seen)
    if _adds(shown, plain):
        return _mixed(stretches, shown, html, seen)
    text = seen.text if _is_stub(plain, seen.text) else plain
    marked = html if len(html) <= MARKED_CHARACTERS or not any(shown) else ""
    return Written(text, html, split_reply(text, marked), seen)


def _shown(stretches: Sequence[Stretch], seen: HtmlText) -> list[str]:
    """The visible text of each stretch that is HTML alone, "" for the others."""
    lone = [bool(one.html) and not one.text().strip() for one in stretches]
    if sum(bool(one.html) for one in stretches) == 1:
        return [seen.text if alone else "" for alone in lone]
    return [html_to_text(_joined(one.html)).text if alone else "" for one, alone in zip(stretches, lone, strict=True)]


def _adds(shown: Sequence[str], plain: str) -> bool:
    """Whether the HTML says what the plain text does not: some programs put both forms into a multipart/mixed."""
    if not any(shown):
        return False
    known = set(_WORD.findall(plain[: 4 * SAID_CHARACTERS].casefold()))
    words = (_WORD.findall(text[:SAID_CHARACTERS].casefold()) for text in shown)
    return any(sum(word in known for word in found) < SAID_SHARE * len(found) for found in words)


def _mixed(stretches: Sequence[Stretch], shown: Sequence[str], html: str, seen: HtmlText) -> Written:
    """Of stretches of which some are plain text and some are HTML."""
    texts = [text or one.text() for one, text in zip(stretches, shown, strict=True)]
    is_small = len(html) <= MARKED_CHARACTERS
    marked = [_joined(one.html) if text and is_small else "" for one, text in zip(stretches, shown, strict=True)]
    forms = [("", document) if document else (text, "") for text, document in zip(texts, marked, strict=True)]
    return Written("\n\n".join(filter(None, texts)), html, split_stretches(forms), seen)


def _joined(documents: Sequence[str]) -> str:
    """Documents as one; what stands behind the end of the first would not be read."""
    if len(documents) < 2:
        return "".join(documents)
    return "\n".join(_END_OF_DOCUMENT.sub("", one) for one in documents)


def _is_stub(plain: str, shown: str) -> bool:
    """Whether a short plain text stands in for the HTML ("your program shows no HTML"), and does not say the same."""
    if len(plain) > min(STUB_CHARACTERS, len(shown)):
        return False
    words = [word for word in _WORD.findall(plain.casefold()) if len(word) > 1]
    squeezed = "".join(shown[:SAID_CHARACTERS].casefold().split())
    return len(words) >= STUB_WORDS and 2 * sum(word in squeezed for word in words) < len(words)
