"""Domains compared: the organizational domain (RFC 7489 section 3.2) from the public suffix list in a wheel."""

from __future__ import annotations

import importlib.resources
from functools import cache
from typing import Literal

from publicsuffix2 import PublicSuffixList

from services.mail.mailbox import domain_name

Mode = Literal["r", "s"]

TENANTS = ("onmicrosoft.com",)  # suffixes under which anybody gets a domain and sends mail, that the list does not have


@cache
def _suffixes() -> PublicSuffixList:
    """The list that authheaders carries: newer than publicsuffix2's own, and no network is needed."""
    path = importlib.resources.files("authheaders") / "public_suffix_list.txt"
    with path.open(encoding="utf-8") as lines:
        return PublicSuffixList([*lines, *TENANTS], idna=True)


def domain_of(address: str) -> str:
    """The domain of an address in A-labels and lower case, or ""."""
    return domain_name(address.rpartition("@")[2].strip())


def organizational(domain: str) -> str:
    """The registrable domain: `example.co.uk` of `mail.example.co.uk`; "" for a public suffix itself.

    Under a top-level domain that is not on the list it is the last two labels (the list's rule "*").
    """
    if not domain:
        return ""
    found, suffix = _suffixes().get_sld(domain), _suffixes().get_tld(domain)
    if found == suffix:
        return "" if domain == suffix else ".".join(domain.split(".")[-2:])
    return str(found or "")


def aligned(identifier: str, author: str, mode: Mode) -> bool:
    """Whether an authenticated domain speaks for the author's: the same ("s"), or of one organization ("r")."""
    if not identifier or not author:
        return False
    if identifier == author:
        return True
    return mode == "r" and bool(organizational(author)) and organizational(identifier) == organizational(author)
