"""Signatures: the usenet mark, what phones and apps append, and the small print of firms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.core.mail.reply_text import words

MAX_APP_LINE = 160
MAX_RULE = 200
MAX_UNDERLINE_DIFFERENCE = 2
MAX_SENTENCE = 500
MAX_SIGNATURE_LINES = 10
MAX_SIGNATURE_CHARACTERS = 600

_MARK = re.compile(r"[ \t\u00a0]*(?:--|—|–|- -)[ \t\u00a0]*\Z")
_RULE = re.compile(r"[ \t]*(?:[-_=+~#*ᐧ—–,]{2,}|_ ?_[_ ]*)[ \t]*\Z")
_APP = re.compile(rf"[\W_]{{0,6}}(?:{'|'.join(words.SENT_FROM)})[\W_]{{0,6}}\Z", re.IGNORECASE)
_SENTENCE = re.compile(r"\w+(?:[ ,]+[\w'’-]+){3,}.*[.!?。！？]\s*\Z")
_SMALL_PRINT = re.compile("|".join(map(re.escape, words.DISCLAIMERS)), re.IGNORECASE)


def is_mark(line: str) -> bool:
    """Whether a line is the signature separator `-- ` (RFC 3676, 4.3) or the dash some clients put there."""
    return bool(_MARK.match(line))


def is_rule(line: str) -> bool:
    """Whether a line is drawn from dashes, underscores, stars or the like."""
    return len(line) <= MAX_RULE and bool(_RULE.match(line))


def underlines(rule: str, title: str) -> bool:
    """Whether a rule is drawn below a title, as long as it."""
    return bool(title.strip()) and abs(len(rule.strip()) - len(title.strip())) <= MAX_UNDERLINE_DIFFERENCE


def is_app_line(line: str) -> bool:
    """Whether a line was appended by a phone or an app: "Sent from my iPhone"."""
    return len(line) <= MAX_APP_LINE and bool(_APP.match(line.strip()))


def is_small_print(lines: Sequence[str]) -> bool:
    """Whether what stands under a rule is a signature or a disclaimer and not more of the letter."""
    text = "\n".join(lines).strip()
    if _SMALL_PRINT.search(text):
        return True
    return (
        len([line for line in lines if line.strip()]) <= MAX_SIGNATURE_LINES and len(text) <= MAX_SIGNATURE_CHARACTERS
    )


def is_footer(lines: Sequence[str]) -> bool:
    """Whether short text behind a long quote is no answer to it: not one sentence, or small print."""
    filled = [line for line in lines if line.strip()]
    if len(filled) > MAX_SIGNATURE_LINES:
        return False
    small_print = _SMALL_PRINT.search("\n".join(filled))
    return bool(small_print) or not any(_SENTENCE.search(line[-MAX_SENTENCE:]) for line in filled)
