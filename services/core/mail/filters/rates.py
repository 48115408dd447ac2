"""Token buckets by sender, by thread and for everybody: a breaker against what no other filter foresaw."""

from __future__ import annotations

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail


def rates(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human past a thread's limit; parked past one of a sender, or the global one."""
    limits = ctx.limits
    if ctx.in_all >= limits.everybody:
        return Verdict("park", f"more than {limits.everybody} mails: the global breaker is open", "rates")
    if ctx.from_sender >= limits.per_sender:
        return Verdict("park", f"more than {limits.per_sender} mails from this sender", "rates")
    if ctx.replies_in_a_day >= limits.replies_a_day:
        return Verdict("park", f"{ctx.replies_in_a_day} replies of ours to this sender within a day", "rates")
    if ctx.in_thread >= limits.per_thread:
        return Verdict("human", f"more than {limits.per_thread} mails in this thread", "rates")
    return None
