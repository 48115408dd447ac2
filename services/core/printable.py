"""Text that anyone may have written, for a terminal: no control, format or unassigned character passes."""

from __future__ import annotations

import unicodedata

DANGEROUS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # Unicode's general categories
MARK = "·"


def printable(text: str, keep: str = "") -> str:
    """The text with `·` in place of each character that could steer a terminal or hide; those of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(MARK if unicodedata.category(one) in DANGEROUS and one not in keep else one for one in text)
