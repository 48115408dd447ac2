"""ARC (RFC 8617): what a forwarder found before it changed the mail, believed only of sealers that are trusted."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import dkim

from services.core.mailbox import ascii_lower
from services.mail.authentication.results import Resolver, Signature
from services.mail.authentication.sender_checks import keys_of, message_signature
from services.mail.authentication.trusted_results import read_results

_INSTANCE = re.compile(r"^\s*i\s*=\s*\d+\s*;")


@dataclass(frozen=True, slots=True)
class Seal:
    """A chain of seals that is believed: who sealed first, and what the last one's signature covers."""

    by: str
    signature: Signature


def seal_of(raw: bytes, author: str, resolver: Resolver, sealers: Collection[str]) -> Seal | None:
    """The chain whose first sealer found that DMARC passed for `author`; None where there is none. Never raises.

    The chain has to be whole, and every one of its sealers trusted: any of them could have written what it likes.
    """
    trusted = {ascii_lower(one) for one in sealers}
    if not trusted or b"arc-seal" not in raw[:65_536].lower():
        return None
    try:
        message = dkim.ARC(raw, timeout=0)
        state, sets, _ = message.verify(dnsfunc=keys_of(resolver))
    except Exception:
        return None
    domains = [ascii_lower(one["as-domain"].decode("ascii", "replace")) for one in sets if "as-domain" in one]
    if state != dkim.CV_Pass or len(domains) != len(sets) or not trusted.issuperset(domains):
        return None
    origin = min(sets, key=lambda one: int(one["instance"]))
    found = _INSTANCE.sub("", origin["aar-value"].decode("utf-8", "replace"))
    told = read_results([found.strip()])
    if told.dmarc.result != "pass" or told.dmarc.domain != author or told.contradicted:
        return None
    signature = message_signature(raw, max(int(one["instance"]) for one in sets))
    return Seal(str(origin["as-domain"].decode()), signature) if signature else None
