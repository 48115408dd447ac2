"""The same body again and again: two robots talking, or a form gone mad."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def storm(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A loop once `limits.identical_bodies` earlier mails had this very text."""
    if ctx.identical_bodies >= ctx.limits.identical_bodies:
        return Verdict("loop", f"{ctx.identical_bodies} earlier mails had the same body", "storm")
    return None
