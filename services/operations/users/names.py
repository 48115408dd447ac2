"""What two names that look the same have in common."""

from __future__ import annotations

import unicodedata


def name_key(name: str) -> str:
    """A name, or a text, in one width, one case and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
