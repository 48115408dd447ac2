"""Senders whose authentication failed, or who cannot be told at all: a person decides, no machine answers."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def failed_identity(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: a `failed` identity, or not exactly one From address."""
    if ctx.identity == "failed":
        return Verdict("human", "the sender's domain says that this mail is not its own", "failed_identity")
    if mail.author is None:
        return Verdict("human", f"{len(mail.from_)} addresses in From: nobody to answer for certain", "failed_identity")
    return None
