"""Abuse complaints (RFC 5965): somebody marked a mail of ours as spam."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def complaint(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A proven complaint counts; one that only names a mail of ours is for a person; any other is set aside."""
    if not (ctx.report and ctx.report.kind == "complaint"):
        return None
    if not ctx.report_names_ours:
        return Verdict("park", "a complaint that names no mail we sent", "complaint")
    if ctx.report_proven:
        return Verdict("complaint", "a recipient marked our mail as spam", "complaint")
    return Verdict("human", "it says that a recipient marked our mail as spam, and nothing proves that", "complaint")
