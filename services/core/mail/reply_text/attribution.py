"""Attribution lines: "On Monday, Ann wrote:", in any language and order, wrapped over several lines.

What a language says is not spelled out as a pattern. An attribution ends a line with a colon and holds at least two of
the three things that clients put there: a moment, a mailbox, the word for "wrote"; and it begins as one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from services.core.mail.reply_text import words

MAX_LINES = 6
MAX_CHARACTERS = 400
MAX_SHORT = 160
MAX_NAME = 40
MAX_MOMENT = 30

_ENDS = re.compile(r"[:：][ \t\u200e\u200f\u202a-\u202e*_\]]*\Z")


def _any_of(choices: Iterable[str]) -> str:
    return "|".join(re.escape(choice) for choice in sorted(set(choices), key=len, reverse=True))


_VERB = re.compile(rf"(?<!\w)(?:{_any_of(words.WROTE)})(?!\w)|{_any_of(words.WROTE_UNSPACED)}", re.IGNORECASE)
_VERB_LAST = re.compile(rf"(?:{_any_of((*words.WROTE, *words.WROTE_UNSPACED))})\s*[:：]", re.IGNORECASE)
_NAME_FOLLOWS = re.compile(rf"(?<!\w)(?:{_any_of(words.NAME_FOLLOWS)})(?!\w)", re.IGNORECASE)
_BEGINNING = re.compile(
    rf"[\s*_\"'\u200e\u200f\u202a-\u202e-]*(?:{_any_of(words.BEGINNINGS)})(?![^\W\d_])", re.IGNORECASE
)
_MONTH = rf"(?:{_any_of(words.MONTHS)})[^\W\d_]*"
_MOMENT = re.compile(
    rf"\b\d{{1,2}}[:.h]\d{{2}}(?!\d)"
    rf"|\b(?:19|20)\d{{2}}\b|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}|\d[年년月월日일]"
    rf"|\b\d{{1,2}}\.? (?:de )?{_MONTH}|\b{_MONTH}\.? \d{{1,2}}\b",
    re.IGNORECASE,
)
_MAILBOX = re.compile(r"[^\s<>\"'(:,;]+@[^\s<>\"')]+|<[^<>]*@?[^<>]*>|\[mailto:|\"[^\"]+\"\s*<")
_MAILBOX_LAST = re.compile(r"<[^<>]*@[^<>]*>\W*[:：]\W*\Z|@[^\s<>()]+[>)]+(?:님이|のメール|さん)")
_QUOTING = re.compile(rf"\s*(?:{_any_of(words.QUOTING)})\b", re.IGNORECASE)
_DATE_FIRST = re.compile(r"[\s*_]*(?:[^\W\d_]{1,14}[.,]{0,2} ){0,2}\(?\d{1,4}[./\-年년 ,]")
_NAME_FIRST = re.compile(r"[\s*_]*[^<>:]{0,80}<[^<>\s]+@[^<>\s]+>")
_DATE_THEN_MAILBOX = re.compile(r"\s*\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b[^<>]{1,100}<[^<>\s]+@[^<>\s]+>:?\s*\Z")


def ends_like_one(line: str) -> bool:
    """Whether an attribution could end with this line."""
    return bool(_ENDS.search(line)) and len(line) <= MAX_CHARACTERS


def first_line(lines: Sequence[str], end: int) -> int | None:
    """The index at which the attribution that ends with line `end` begins, or None where there is none.

    The shortest stretch that is one wins, so that prose before it is not swallowed; but one without a moment
    (`<ann@example.org> wrote:`) may be the rest of a longer one in the same paragraph.
    """
    text, found = "", None
    for start in range(end, max(end - MAX_LINES, -1), -1):
        text = f"{lines[start].strip()} {text}".strip()
        over = len(text) > MAX_CHARACTERS or (start < end and ends_like_one(lines[start]))
        if over or (found is not None and not lines[start].strip()):
            break
        if lines[start].strip() and not lines[start].lstrip().startswith(">") and is_attribution(text):
            found = start
            if _MOMENT.search(text):
                break
    return found


def is_attribution(text: str) -> bool:
    """Whether one unwrapped text is an attribution."""
    if not ends_like_one(text):
        return bool(_DATE_THEN_MAILBOX.match(text))
    if _DATE_FIRST.match(text) or (_BEGINNING.match(text) and _MOMENT.search(text)):
        return bool(_MOMENT.search(text)) and _names_writer(text)
    if _QUOTING.match(text) and _MAILBOX_LAST.search(text):
        return True
    named = _NAME_FIRST.match(text) and _VERB.search(text) and (_MOMENT.search(text) or _VERB_LAST.search(text))
    return bool(named) or _ends_with_moment(text)


def _ends_with_moment(text: str) -> bool:
    """Whether a text is a name, the word for "wrote", and a moment, and nothing else: `Ann schrieb am 4.3.2024:`."""
    verb = _VERB.search(text)
    if verb is None or not 0 < verb.start() <= MAX_NAME:
        return False
    return len(text) - verb.end() <= MAX_MOMENT and bool(_MOMENT.search(text, verb.end()))


def _names_writer(text: str) -> bool:
    """Whether a text ends with a mailbox or the word for "wrote", or holds both; prose about a date does not."""
    if _MAILBOX_LAST.search(text) or _VERB_LAST.search(text) or _NAME_FOLLOWS.search(text):
        return True
    return bool(_MAILBOX.search(text) and _VERB.search(text))


def is_short_attribution(text: str) -> bool:
    """Whether a line names a writer in less than the usual way ("Ann wrote:"); to be trusted only above a quote."""
    if len(text) > MAX_SHORT or not ends_like_one(text):
        return False
    return bool(_VERB_LAST.search(text) or (_MOMENT.search(text) and _MAILBOX.search(text)))
