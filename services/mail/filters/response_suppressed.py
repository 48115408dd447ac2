"""X-Auto-Response-Suppress (Microsoft, MS-OXCMAIL 2.2.3.2.14): the sender asks for no automatic response."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail

_REPLIES = {"all", "oof", "autoreply"}


def response_suppressed(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park where replies are suppressed; receipts alone (DR, NDR, RN, NRN) say nothing about replies."""
    asked = set(re.split(r"[\s,;]+", ",".join(mail.all("X-Auto-Response-Suppress")).casefold()))
    if asked & _REPLIES:
        return Verdict("park", "its sender asks for no automatic response", "response_suppressed")
    return None
