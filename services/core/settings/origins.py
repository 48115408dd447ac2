"""Addresses that links in mails begin with."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_https_origin(address: str) -> bool:
    """Whether it is an https address without a path, which everybody's mail program may open."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and parts.path in ("", "/")
