"""Whether a text came sooner than anyone types it: evidence that needs no language.

A robot answers at once, and its `Date` says when, however long the mail was on its way. A person opens the mail, reads
it, and types.
"""

from __future__ import annotations

from datetime import datetime, timedelta

UNREAD = timedelta(seconds=15)  # in which nobody gets a mail, opens it, reads it and answers
OPENING = timedelta(seconds=10)  # to get the mail, open it and read a few words
LETTERS_A_SECOND = 10  # 120 words a minute, which few people type
LONGEST = timedelta(seconds=60)  # a text that takes longer may have been prepared, and pasted
CLOCKS = timedelta(seconds=30)  # by which the clocks of two servers may differ
LETTERS_OF_A_SIGN = 3  # one Han character, kana or Hangul syllable takes as long as three letters
MUCH = 30  # letters that nobody taps in passing, as "thank you" is
_SIGNS = "\u2e80"


def too_soon(text: str, left: datetime, came: datetime, written: datetime | None) -> bool:
    """Whether nobody can have typed `text` as an answer to our mail: by when it came, or by its own `Date`."""
    return _within(min(OPENING + timedelta(seconds=_letters(text) / LETTERS_A_SECOND), LONGEST), left, came, written)


def unread(left: datetime, came: datetime, written: datetime | None) -> bool:
    """Whether nobody can have read our mail before this answer to it, however short it is."""
    return _within(UNREAD, left, came, written)


def says_much(text: str) -> bool:
    """Whether a text is more than a word of thanks."""
    return _letters(text) >= MUCH


def _within(needed: timedelta, left: datetime, came: datetime, written: datetime | None) -> bool:
    return came - left <= needed or (written is not None and -CLOCKS <= written - left <= needed)


def _letters(text: str) -> int:
    return sum(LETTERS_OF_A_SIGN if one >= _SIGNS else 1 for one in text if not one.isspace())
