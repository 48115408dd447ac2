"""Read and delivery receipts (RFC 8098): news about a mail of ours, nothing to answer."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def receipt(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park receipts."""
    if ctx.report and ctx.report.kind == "receipt":
        return Verdict("park", f"a receipt ({ctx.report.diagnostic or 'delivered'})", "receipt")
    return None
