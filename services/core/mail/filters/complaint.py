"""Abuse complaints (RFC 5965): somebody marked a mail of ours as spam."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail


def complaint(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A complaint that names a mail of ours counts; any other proves nothing and is set aside."""
    if not (ctx.report and ctx.report.kind == "complaint"):
        return None
    if ctx.report_names_ours:
        return Verdict("complaint", "a recipient marked our mail as spam", "complaint")
    return Verdict("park", "a complaint that names no mail we sent", "complaint")
