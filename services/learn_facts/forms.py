"""Whether two values are one in different forms: numbers, telephone numbers, dates. Pure.

"1,500", "1.500", "1 500" and "1500" are one number; "+49 30 1234567" and "030/1234567" one telephone; "2027-04-03" and
"3 April 2027" one day. What differs in a word, or in any digit, is another value.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from services.memory.temporal import window_of

LONGEST = 60  # characters of a value that may be a date
LEAST_DIGITS = 7  # of a telephone number
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:([.,'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?!\d|[.,]\d)")
_CENTS = re.compile(r"(?<=\d)[.,]00(?!\d)")
_DIALLED = re.compile(r"(?:tel\.?|phone|mobile|fax)?:?\s*\+?[\d\s().\-/–‑]{7,40}")
_TRUNK = re.compile(r"\(0\)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TYPED = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'", "–": "-", "—": "-", "‑": "-", "−": "-"})
_REFERENCE = datetime(2000, 1, 1, tzinfo=UTC)  # for dates that name their year, any day will do


def same_value(one: str, other: str) -> bool:
    """Whether two values are one, in whatever form each is written."""
    first, second = plain_value(one), plain_value(other)
    return first == second or _same_telephone(first, second) or _same_day(first, second)


def plain_value(value: str) -> str:
    """A value as it is compared, without what differs by form: case, space, marks, separators of thousands, a stop."""
    text = unicodedata.normalize("NFKC", value).translate(_TYPED).casefold()
    text = " ".join(text.split()).strip("\"'").rstrip(".!")
    if telephone(text):
        return text
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), _CENTS.sub("", text))


def telephone(value: str) -> str:
    """The digits of a telephone number, without what dials abroad or at home; "" where a value is none."""
    if _DIALLED.fullmatch(value) is None or _YEAR.match(value):
        return ""
    digits = re.sub(r"\D", "", _TRUNK.sub("", value))
    parted = re.search(r"[\s()\-/+]", value.strip()) is not None or digits.startswith("0")
    grouped = _GROUPED.fullmatch(value) is not None and not value.startswith(("0", "+"))
    if not LEAST_DIGITS <= len(digits) <= 15 or not parted or grouped:
        return ""
    return digits.removeprefix("00")


def _same_telephone(one: str, other: str) -> bool:
    """A number with its country and without: the national one is the end of the other."""
    first, second = telephone(one), telephone(other)
    if not first and not second:
        return False
    first, second = first or _bare(one), second or _bare(other)
    if not first or not second:
        return False
    longer, shorter = sorted((first, second), key=len, reverse=True)
    if longer == shorter:
        return True
    home = shorter.removeprefix("0")
    return len(home) >= LEAST_DIGITS and longer.endswith(home) and 1 <= len(longer) - len(home) <= 3


def _bare(value: str) -> str:
    """The digits of a telephone number that is written without a break; "" where a value is none."""
    return re.sub(r"\D", "", value) if value.isdigit() and LEAST_DIGITS <= len(value) <= 15 else ""


def _same_day(one: str, other: str) -> bool:
    first = _day(one)
    return first is not None and first == _day(other)


@lru_cache(maxsize=4096)
def _day(value: str) -> datetime | None:
    """The day that a value is, which names its year; None for anything else."""
    if len(value) > LONGEST or _YEAR.search(value) is None:
        return None
    window = window_of(value, _REFERENCE)
    return window.start if window is not None and window.end - window.start <= timedelta(days=1) else None
