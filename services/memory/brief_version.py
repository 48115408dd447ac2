"""The name of a version of a person's brief; the database function `brief_version` gives the same."""

from __future__ import annotations

import hashlib


def version_of(text: str) -> str:
    """The hash (SHA-256, hexadecimal) of a brief's text: the same words are the same version."""
    return hashlib.sha256(text.encode()).hexdigest()
