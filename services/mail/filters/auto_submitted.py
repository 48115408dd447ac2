"""Mail whose headers say that no person sent it: Auto-Submitted (RFC 3834) and what came before it."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.reports.auto_reply import auto_submitted as keyword_of
from services.mail.reports.auto_reply import responder_header


def auto_submitted(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park anything but `Auto-Submitted: no`, and what a responder's own header marks."""
    if keyword := keyword_of(mail):
        return Verdict("park", f"Auto-Submitted: {keyword}", "auto_submitted")
    if header := responder_header(mail):
        return Verdict("park", f"an automatic responder sent it ({header})", "auto_submitted")
    return None
