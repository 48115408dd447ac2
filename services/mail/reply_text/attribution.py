"""Attribution lines: "On Monday, Ann wrote:", in any language and order, wrapped over several lines.

What a language says is not spelled out as a pattern. An attribution is known by its shape: a moment, and a mailbox or
a word for "wrote", at the end of a paragraph. How much of that shape it needs depends on what follows: a marked quote
proves much, the writer's own prose nothing. Invariant: an attribution is never joined over an empty line, nor out of a
quoted line and one that is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from services.mail.reply_text import shapes

MAX_LINES = 5
MAX_SHORT = 160
MAX_NAME = 40
MAX_MOMENT = 30
MAX_WORDS = 30
MAX_MOMENT_WORDS = 5  # "Monday, 4 March 2024 at 9:15 AM CET"
MAX_BEHIND_BOX = 24  # for what some languages put behind the writer, without a colon
WRAP_WIDTH = 55  # a line shorter than this, that ends a sentence, was not broken by a mail program


class Below(Enum):
    """What stands below a line: the first thing that is not empty."""

    QUOTE = "quote"
    TEXT = "text"
    NOTHING = "nothing"


_CLOSERS = " \t\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069*_]\"'"
_COLONS = (":", "：", "՝", "፦", "៖")  # of Latin, Han, Armenian, Ethiopic and Khmer
_DASHES = "-—–"
_ENDS = (*_COLONS, ">", ")", *_DASHES)
_VERBS = tuple(dict.fromkeys(word.casefold() for word in (*shapes.WROTE, *shapes.WROTE_UNSPACED)))
_FIRST_VERB = re.compile(
    rf"(?<!\w)(?:{shapes.any_of(shapes.WROTE)})(?!\w)|{shapes.any_of(shapes.WROTE_UNSPACED)}", re.IGNORECASE
)
_NAME_FOLLOWS = re.compile(rf"(?<!\w)(?:{shapes.any_of(shapes.NAME_FOLLOWS)})(?!\w)", re.IGNORECASE)
_BEGINNING = re.compile(rf"[*_\"'-]{{0,6}}(?:{shapes.any_of(shapes.BEGINNINGS)})(?![^\W\d_])", re.IGNORECASE)
_QUOTING = re.compile(rf"(?:{shapes.any_of(shapes.QUOTING)})\b", re.IGNORECASE)
_DATE_FIRST = re.compile(r"[*_]{0,3}(?:[^\s\d]{1,14}[.,]{0,2} ){0,2}\(?\d{1,4}[./:\-年년 ,]")
_NAME_FIRST = re.compile(r"[*_]{0,3}[^<>:]{0,80}<[^<>\s@]{1,100}@[^<>\s]{1,200}>")
_BOX_LAST = re.compile(
    r"[<(\[]\s?[^\s<>()\[\]@]{1,100}@[^\s<>()\[\]@]{1,200}\s?[>)\]]+(?:[님이のメールさん가 ]{1,6})?[\W_]{0,6}\Z"
)
_BARE_LAST = re.compile(r"(?<!\S)[^\s@]{1,100}@[^\s@]{1,200}\Z")
_NAME_AND_MOMENT = re.compile(  # "Ann Lee, Mon, 4 Mar 2024 at 9:15 +0100", "Ann [2024-03-04 9:15]", and nothing else
    r"[*_ ]{0,3}[^\s\d,()\[\]<>:]{1,25}(?: [^\s\d,()\[\]<>:]{1,25}){0,3} ?(?:, ?|[(\[])"
    r"(?P<moment>[^()\[\]<>]{5,60}\d(?: ?[A-Z]{2,5}){0,2})[)\]]?\Z"
)
_WITH_YEAR = re.compile(r"(?<!\d)(?:19|20|25)\d\d(?!\d)|\d[./-]\d{1,2}[./-]\d\d")
_WORD = re.compile(r"[^\W\d_]+")
_ABBREVIATED = re.compile(r"(?:(?<!\w)\w{1,2}|\d)\.\Z")
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "…")


MAX_OWN = 300
_OF_THE_AUTHOR = re.compile(  # "I wrote": the customer speaks of a letter of their own ("je 15. 5." is Slovene)
    r"(?<![\w.'’])(?:i(?!\.)|we|ich|wir|je(?! \d)|j(?=['’])|nous|yo|ik|wij|jag|jeg|я|мы|ми)(?!\w)|我|私", re.I
)


def may_end(line: str, continued: bool) -> bool:
    """Whether an attribution could end with this line; cheap, for every line is asked.

    One that has no colon ends its paragraph; `continued` says that text stands on the next line.
    """
    if len(line) > shapes.MAX_CHARACTERS:
        return False
    end = line.rstrip(_CLOSERS)
    if not end:
        return False
    if continued:
        return end.endswith(_COLONS) or (end.endswith("--") and line.lstrip().startswith("--"))
    if end.endswith(_ENDS) or "@" in end:
        return True
    return end[-1] not in _SENTENCE_ENDS and end[-20:].casefold().endswith(_VERBS)


def closes_bracket(line: str) -> bool:
    """Whether a line that begins as a quote does is the rest of a mailbox, broken before its bracket (`> wrote:`)."""
    rest = line.strip(" \t>").rstrip(_CLOSERS + "".join(_COLONS))
    return line.rstrip(_CLOSERS).endswith(_COLONS) and (not rest or rest.casefold() in _VERBS)


def first_line(lines: Sequence[str], end: int, below: Below) -> int | None:
    """The index at which the attribution that ends with line `end` begins, or None where there is none.

    The shortest stretch with a date in it wins, so that prose above it is not swallowed; one without a date
    (`<ann@example.org> wrote:`) may be the rest of a longer one in the same paragraph.
    """
    text, found = "", None
    for start in range(end, max(end - MAX_LINES, -1), -1):
        line = lines[start].strip()
        if not line and text.startswith("<") and _is_torn_off(lines, start - 1):
            continue
        if not line or (start < end and not _continues(line, found is not None, text)):
            break
        text = f"{line} {text}".strip()
        if len(text) > shapes.MAX_CHARACTERS:
            break
        if is_attribution(text, below):
            found = start
            if shapes.has_date(shapes.plain(text)):
                break
    return found


def _is_torn_off(lines: Sequence[str], index: int) -> bool:
    """Whether a line is the first half of an attribution whose mailbox stands in brackets below an empty line."""
    if index < 1 or not any(line.strip() for line in lines[max(index - MAX_LINES, 0) : index]):
        return False
    known = shapes.plain(lines[index])
    whole = not known.endswith((*_SENTENCE_ENDS, *_COLONS))
    return whole and shapes.has_date(known) and shapes.has_time(known) and _begins_like_one(known)


def _continues(line: str, complete: bool, rest: str) -> bool:
    """Whether what stands below a line may be the rest of it, broken by a mail program."""
    if line.startswith((">", "|")) or line.rstrip(_CLOSERS).endswith(_COLONS):
        return False
    if rest.startswith(">"):
        return "<" in line
    if len(line) >= WRAP_WIDTH:
        return True
    if line.endswith(_SENTENCE_ENDS) and not _ABBREVIATED.search(line):
        return False
    known = shapes.plain(line)
    if complete:
        return shapes.has_date(known) and shapes.has_time(known)
    return bool(re.search(r"[\d@<]", known)) or rest.startswith("<")


def is_attribution(text: str, below: Below) -> bool:
    """Whether one unwrapped text is an attribution, given what stands below it."""
    text = shapes.plain(text)
    if _OF_THE_AUTHOR.search(text[:MAX_OWN]) and not shapes.has_mailbox(text):
        return False
    inner = text.strip(_DASHES + _CLOSERS)
    fenced = text.startswith("--") and text.rstrip(_CLOSERS).endswith("--")
    if _is_strong(inner, fenced) and (below is not Below.TEXT or fenced or _names_when(inner)):
        return True
    if below is Below.TEXT or text.count(" ") > MAX_WORDS:
        return False
    moment = shapes.has_date(inner) or (below is Below.QUOTE and shapes.has_time(inner))
    core, colon = _without_colon(inner)
    closed = colon or fenced or bool(_verb_last(core) or _BOX_LAST.search(core))
    if moment and closed and (shapes.has_mailbox(core) or shapes.has_verb(core)):
        return colon or fenced or not core.endswith(_SENTENCE_ENDS)
    if below is not Below.QUOTE:
        return False
    if not colon:
        return not core.endswith(_SENTENCE_ENDS) and _names_box_and_moment(core)
    return len(text) <= MAX_SHORT and (_is_short(core) or _is_name_and_moment(core))


def _without_colon(text: str) -> tuple[str, bool]:
    core = text.rstrip(_CLOSERS + "".join(_COLONS))
    return core, len(core) < len(text) and text[len(core) :].strip(_CLOSERS).startswith(_COLONS)


def _is_strong(text: str, fenced: bool) -> bool:
    """Whether a text is an attribution whatever stands below it."""
    core, colon = _without_colon(text)
    dated = shapes.has_date(core)
    if fenced:
        return dated and (shapes.has_mailbox(core) or shapes.has_verb(core))
    if not colon:
        if not (dated and shapes.has_time(core) and shapes.has_bracketed_mailbox(core) and _begins_like_one(core)):
            return False
        return bool(_BOX_LAST.search(core) or _verb_last(core))
    if dated and shapes.has_time(core) and _BARE_LAST.search(core) and _begins_like_one(core):
        return True
    if dated and _begins_like_one(core) and _names_writer(core):
        return True
    if dated and shapes.has_time(core) and shapes.has_bracketed_mailbox(core) and core.count(" ") <= MAX_WORDS:
        return True
    if _QUOTING.match(core) and _BOX_LAST.search(core):
        return True
    if _NAME_FIRST.match(core) and shapes.has_verb(core) and (dated or shapes.has_time(core) or _verb_last(core)):
        return True
    return _ends_with_moment(core)


def _names_when(text: str) -> bool:
    """Whether a text says when, or by which mailbox, as mail programs do; people write "on 3 March Tom wrote:"."""
    return shapes.has_time(text) or shapes.has_mailbox(text) or bool(_WITH_YEAR.search(text))


def _verb_last(core: str) -> bool:
    return core.casefold().endswith(_VERBS)


def _begins_like_one(text: str) -> bool:
    return bool(_DATE_FIRST.match(text) or _BEGINNING.match(text))


def _names_writer(core: str) -> bool:
    """Whether a text ends with a mailbox or the word for "wrote", or holds both; prose about a date does not."""
    if _BOX_LAST.search(core) or _verb_last(core) or _NAME_FOLLOWS.search(core):
        return True
    return shapes.has_bracketed_mailbox(core) and shapes.has_verb(core)


def _ends_with_moment(core: str) -> bool:
    """Whether a text is a name, the word for "wrote", and a moment, and nothing else: `Ann schrieb am 4.3.2024`."""
    verb = _FIRST_VERB.search(core)
    if verb is None or not 0 < verb.start() <= MAX_NAME:
        return False
    return len(core) - verb.end() <= MAX_MOMENT and shapes.has_date(core[verb.end() :])


def _names_box_and_moment(core: str) -> bool:
    """Whether a text that begins as an attribution names a moment and, but for a word or two, ends with a mailbox."""
    box = shapes.last_bracketed_mailbox(core)
    return len(core) - box <= MAX_BEHIND_BOX and bool(box) and _begins_like_one(core) and _is_moment(core[:box])


def _is_name_and_moment(core: str) -> bool:
    """Whether a text is a name and a moment, and nothing else; to be trusted only above a quote."""
    found = _NAME_AND_MOMENT.match(core)
    if not found or not _WITH_YEAR.search(found["moment"]):
        return False
    return _is_moment(found["moment"]) and len(_WORD.findall(found["moment"])) <= MAX_MOMENT_WORDS


def _is_moment(text: str) -> bool:
    return shapes.has_date(text) and shapes.has_time(text)


def _is_short(core: str) -> bool:
    """Whether a text names a writer in less than the usual way ("Ann wrote"); to be trusted only above a quote."""
    return bool(_verb_last(core) or _BOX_LAST.search(core))
