"""Text that no table can hold: NUL, and half of a surrogate pair, which neither Postgres nor UTF-8 takes."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether a table can hold the text."""
    return _UNSTORABLE.search(text) is None


def storable(text: str) -> str:
    """The text as a table can hold it, U+FFFD in place of what it cannot."""
    return _UNSTORABLE.sub("\ufffd", text)
