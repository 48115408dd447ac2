"""A thread that the agent has answered many times without any person looking in."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def long_monologue(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human after `limits.replies_without_human` automatic replies in the thread."""
    if ctx.automatic_replies >= ctx.limits.replies_without_human:
        return Verdict("human", f"{ctx.automatic_replies} automatic replies and no person yet", "long_monologue")
    return None
