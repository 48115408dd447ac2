"""Domains at which anybody can have a mailbox: two addresses of one of them are not colleagues."""

from __future__ import annotations

import importlib.resources

_FILE = importlib.resources.files("services.mail") / "public_providers.txt"
PUBLIC_PROVIDERS = frozenset(_FILE.read_text(encoding="utf-8").split())
