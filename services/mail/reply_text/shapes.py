"""The shapes that an attribution or a header block is made of, in any language: a date, a time, a mailbox, "wrote".

Every text is `plain` first: digits of any script as ASCII, no marks of direction, one space between words, and at
most `MAX_CHARACTERS` of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from services.mail.reply_text import words

# Lines that stand in a text for what an HTML mail says by its markup; private-use characters no mail needs.
OLDER_MAIL = "\U000f6d01"
SIGNATURE = "\U000f6d02"
ATTRIBUTION = "\U000f6d03"
SIGNATURE_END = "\U000f6d04"

KINDS = {OLDER_MAIL: "SEPARATOR", SIGNATURE: "MARK", ATTRIBUTION: "ATTRIBUTION", SIGNATURE_END: "EMPTY"}


def without_marks(text: str) -> str:
    """`text` with no such character, so that a mail cannot set them itself."""
    for one in KINDS:
        text = text.replace(one, "")  # no copy of a text without it, which `translate` makes of every one
    return text


MAX_CHARACTERS = 400

_DIRECTION = dict.fromkeys([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF])
_YEAR = r"(?:19|20|25)\d\d(?!\d)"


def any_of(choices: Iterable[str]) -> str:
    """The alternatives of a pattern, the longest first."""
    return "|".join(re.escape(choice) for choice in sorted(set(choices), key=len, reverse=True))


_MONTH = rf"(?:{any_of(words.MONTHS)})[^\W\d_]{{0,12}}"
_DATE = re.compile(
    rf"(?<![\d.:])\d{{1,4}}[./-] ?\d{{1,2}}[./-] ?\d{{1,4}}(?![\d:])"
    rf"|(?<!\d)\d{{1,2}}(?![\d:h])\D{{1,24}}(?<!\d){_YEAR}|(?<!\d){_YEAR}\D{{1,24}}(?<!\d)\d{{1,2}}(?![\d:])"
    rf"|(?<!\w)(?:\d{{1,2}}[-/.])?{_MONTH}[-/.]\d{{1,2}}(?!:)"
    rf"|\d{{4}} ?[年년]|\d{{1,2}} ?[月월] ?\d{{1,2}}"
    rf"|(?<![\d:.])\d{{1,2}}(?:st|nd|rd|th)?\.? (?:de |of )?{_MONTH}|\b{_MONTH}\.? \d{{1,2}}\b(?!:)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_TIME = re.compile(
    r"(?<![\d/-])\d{1,2} ?[:.hH時时시点點] ?\d{2}(?!\d|[./]\d)|(?<!\d)\d{1,2} ?(?:[ap]\.?m\b|[時时시点點])",
    re.IGNORECASE,
)
_MAILBOX = re.compile(r"(?<![^\s<>\"'(:;,=])[^\s<>\"'(:;,@]{1,100}@[^\s<>\"'(),;:@]{1,200}")
_BRACKETED = re.compile(r"[<(\[]\s?[^\s<>()\[\]@]{1,100}@[^\s<>()\[\]@]{1,200}\s?[>)\]]")
_VERB = re.compile(rf"(?<!\w)(?:{any_of(words.WROTE)})(?!\w)|(?:{any_of(words.WROTE_UNSPACED)})", re.IGNORECASE)


def plain(text: str) -> str:
    """`text` as shapes are looked for in it."""
    text = " ".join(text[:MAX_CHARACTERS].translate(_DIRECTION).split())
    return text if text.isascii() else "".join(map(_ascii_digit, text))


def _ascii_digit(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return character


def has_date(text: str) -> bool:
    """Whether a plain text names a day. Most lines have no digit, and are asked nothing more."""
    return bool(_DIGIT.search(text) and _DATE.search(text))


def has_time(text: str) -> bool:
    """Whether a plain text names a time of day."""
    return bool(_DIGIT.search(text) and _TIME.search(text))


def has_mailbox(text: str) -> bool:
    """Whether a plain text names a mailbox."""
    return bool(_MAILBOX.search(text))


def has_bracketed_mailbox(text: str) -> bool:
    """Whether a plain text names a mailbox in brackets, as mail programs do and people rarely."""
    return bool(_BRACKETED.search(text))


def last_bracketed_mailbox(text: str) -> int:
    """Where the last bracketed mailbox of a plain text ends; 0 without one."""
    return max((found.end() for found in _BRACKETED.finditer(text)), default=0)


def has_verb(text: str) -> bool:
    """Whether a plain text holds a word for "wrote"."""
    return bool(_VERB.search(text))
