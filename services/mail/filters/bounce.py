"""Delivery failures and delays (RFC 3464), believed only where something proves that they are about a mail of ours."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def bounce(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A proven bounce is one; a failure that only names a mail of ours is for a person; any other is set aside.

    Backscatter names no mail of ours. What names one unproven may be a forgery that wants an address suppressed.
    """
    if not (ctx.report and ctx.report.kind == "bounce"):
        return None
    if not ctx.report_names_ours:
        return Verdict("park", "a bounce that names no mail we sent", "bounce")
    if ctx.report_proven:
        return Verdict("bounce", f"our mail could not be delivered ({ctx.report.severity})", "bounce")
    if ctx.report.severity == "hard":
        return Verdict("human", "it says that a mail of ours could not be delivered, and nothing proves that", "bounce")
    return Verdict("park", f"a bounce ({ctx.report.severity}) that names a mail of ours, unproven", "bounce")
