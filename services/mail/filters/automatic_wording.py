"""Out-of-office notes and acknowledgements whose headers do not say what they are."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.reports.automatic.judgement import why_automatic


def automatic_wording(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park an automatic reply: by its subject and words, and by how fast and how often it came, where that is known."""
    why = ctx.report.diagnostic if ctx.report and ctx.report.kind == "auto_reply" else _why(mail, ctx)
    return Verdict("park", f"an automatic reply: {why}", "automatic_wording") if why else None


def _why(mail: ParsedMail, ctx: FilterContext) -> str:
    """What only the store makes sure of; without that the words have been read already."""
    if not (ctx.within_seconds or ctx.seen_before):
        return ""
    return why_automatic(mail, within_seconds=ctx.within_seconds, seen_before=ctx.seen_before)
