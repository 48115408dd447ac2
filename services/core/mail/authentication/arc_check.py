"""ARC (RFC 8617): what a forwarder found before it changed the mail, believed only of sealers that are trusted."""

from __future__ import annotations

import re
from collections.abc import Collection

import dkim

from services.core.mail.authentication.dkim_check import keys_of
from services.core.mail.authentication.resolver import Resolver
from services.core.mail.authentication.trusted_results import read_results

_INSTANCE = re.compile(r"^\s*i\s*=\s*\d+\s*;")


def vouched_by_sealer(raw: bytes, author: str, resolver: Resolver, sealers: Collection[str]) -> str:
    """The domain that sealed first, where it found that DMARC passed for `author`; "" otherwise. Never raises.

    The chain has to be whole, and every one of its sealers trusted: any of them could have written what it likes.
    """
    trusted = {one.casefold() for one in sealers}
    if not trusted or b"arc-seal" not in raw[:65_536].lower():
        return ""
    try:
        state, sets, _ = dkim.ARC(raw, timeout=0).verify(dnsfunc=keys_of(resolver))
    except Exception:
        return ""
    domains = [one["as-domain"].decode("ascii", "replace").casefold() for one in sets if "as-domain" in one]
    if state != dkim.CV_Pass or len(domains) != len(sets) or not trusted.issuperset(domains):
        return ""
    origin = min(sets, key=lambda one: int(one["instance"]))
    found = _INSTANCE.sub("", origin["aar-value"].decode("utf-8", "replace"))
    _, _, dmarc, about = read_results([found.strip()])
    return str(origin["as-domain"].decode()) if dmarc.result == "pass" and about == author else ""
