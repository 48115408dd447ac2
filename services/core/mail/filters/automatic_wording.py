"""Out-of-office notes and acknowledgements whose headers do not say what they are; recognised by their words."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail
from services.core.mail.reports.auto_reply import read_auto_reply


def automatic_wording(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park an automatic reply."""
    report = ctx.report if ctx.report and ctx.report.kind == "auto_reply" else read_auto_reply(mail)
    return Verdict("park", f"an automatic reply: {report.diagnostic}", "automatic_wording") if report else None
