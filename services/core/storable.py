"""Text that no table can hold: NUL, and half of a surrogate pair, which neither Postgres nor UTF-8 takes."""

from __future__ import annotations

import re
from typing import Any

PATTERN = r"^[^\x00]*$"  # as a JSON Schema says it; JSON that says half of a pair is no Unicode (RFC 8259, 8.2)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether a table can hold the text."""
    return _UNSTORABLE.search(text) is None


def holds_storable(value: Any) -> bool:
    """Whether a table can hold every text in a value of JSON, names among them."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            left += one
        elif isinstance(one, str) and not is_storable(one):
            return False
    return True


def storable(text: str) -> str:
    """The text as a table can hold it, U+FFFD in place of what it cannot."""
    return _UNSTORABLE.sub("\ufffd", text)
