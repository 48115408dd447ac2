"""Senders whom nothing proves, in an inbox where a person answers those."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def unproven_sender(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: an author who is not proven, where the inbox says so (`unproven = "human"`)."""
    if ctx.unproven_for_person and not ctx.proven:
        return Verdict("human", "nothing proves that the sender is who they say", "unproven_sender")
    return None
