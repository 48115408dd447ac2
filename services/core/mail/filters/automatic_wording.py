"""Out-of-office notes and acknowledgements whose headers do not say what they are; recognised by their words."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail


def automatic_wording(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park an automatic reply."""
    if ctx.report and ctx.report.kind == "auto_reply":
        return Verdict("park", f"an automatic reply: {ctx.report.diagnostic}", "automatic_wording")
    return None
