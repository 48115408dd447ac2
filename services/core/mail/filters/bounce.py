"""Delivery failures and delays (RFC 3464), trusted only where they name a mail that we sent."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail


def bounce(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A bounce of ours is one; any other is backscatter, or a forgery that wants an address suppressed."""
    if not (ctx.report and ctx.report.kind == "bounce"):
        return None
    if ctx.report_names_ours:
        return Verdict("bounce", f"our mail could not be delivered ({ctx.report.severity})", "bounce")
    return Verdict("park", "a bounce that names no mail we sent", "bounce")
