"""How long a text is in words, in any script, and a text cut to so many.

A word is what stands between blanks. Scripts that put none between their words are counted by characters, and so is a
run of letters too long to be one word: no text is long in characters and short in words.
"""

from __future__ import annotations

import re

CJK_WORD, BRAHMIC_WORD, LONGEST_WORD = 2, 4, 20  # characters of a word: of Chinese and Japanese, of Thai, of others
BYTES_A_WORD = 3 * LONGEST_WORD + 1  # of UTF-8 at most, with its blank

CJK = (
    "\u2e80-\u2fff\u3001-\u312f\u3190-\u9fff\uf900-\ufaff"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00010000-\U0010ffff"
)
BRAHMIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer

_WORD = re.compile(f"[{CJK}]{{1,{CJK_WORD}}}|[{BRAHMIC}]{{1,{BRAHMIC_WORD}}}|[^\\s{CJK}{BRAHMIC}]{{1,{LONGEST_WORD}}}")
_SENTENCE_END = re.compile(r"(?<=[.!?।؟۔])\s+|(?<=[。！？])|\n+")


def count_words(text: str) -> int:
    """How many words `text` has."""
    return sum(1 for _ in _WORD.finditer(text))


def clip_words(text: str, limit: int) -> str:
    """`text` with at most `limit` words, cut after the last whole sentence that fits, else after a word."""
    text = text.strip()
    words = list(_WORD.finditer(text))
    if len(words) <= limit:
        return text
    end = words[limit - 1].end() if limit > 0 else 0
    ends = [match.start() for match in _SENTENCE_END.finditer(text) if 0 < match.start() <= end]
    return text[: ends[-1]].strip() if ends else text[: _seam(text, end)].strip()


def _seam(text: str, end: int) -> int:
    """Where to cut at `end` or a little before it: at a blank, if one is near, so that no number is cut in two."""
    blanks = [match.start() for match in re.finditer(r"\s", text[: end + 1])]
    return blanks[-1] if blanks and end - blanks[-1] < 3 * LONGEST_WORD else end
