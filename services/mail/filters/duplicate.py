"""The same mail once more: another inbox, another folder, or a source that delivers twice."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def duplicate(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """The mail belongs to the first that was stored; this one is logged."""
    return Verdict("duplicate", f"already received as {ctx.duplicate_of}", "duplicate") if ctx.duplicate_of else None
