"""Breakers: storms of mail, rates by sender, company, thread and everybody, threads without a person."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def storm(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A loop once `limits.identical_bodies` earlier mails had this very text.

    The same body again and again: two robots talking, or a form gone mad.
    """
    if ctx.identical_bodies >= ctx.limits.identical_bodies:
        return Verdict("loop", f"{ctx.identical_bodies} earlier mails had the same body", "storm")
    return None


def rates(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a person past a limit of everybody of the same proof, of the sender, of their company, or of the thread.

    Token buckets by sender, by company, by thread and for everybody: a breaker against what no other filter foresaw.

    Proven and unproven senders have buckets of their own, so that mail in a customer's name never uses up the
    customer's. Who has a domain has as many addresses as they like: of all together a company has a part, so that it
    uses up nobody else's. What is over a limit goes to a person: nobody is silenced by how much others send.
    """
    limits, who = ctx.limits, "proven" if ctx.proven else "unproven"
    if ctx.in_all >= limits.everybody:
        return _over(f"more than {limits.everybody} mails of {who} senders within an hour: the breaker is open")
    if ctx.from_sender >= limits.per_sender:
        return _over(f"more than {limits.per_sender} mails of this {who} sender within an hour")
    if ctx.proven and ctx.from_company >= limits.per_company:
        return _over(f"more than {limits.per_company} mails of this sender's company within an hour")
    if ctx.replies_in_a_day >= limits.replies_a_day:
        return _over(f"{ctx.replies_in_a_day} replies of ours to this {who} sender within a day")
    if ctx.in_thread >= limits.per_thread:
        return _over(f"more than {limits.per_thread} mails in this thread within an hour")
    return None


def _over(reason: str) -> Verdict:
    return Verdict("human", reason, "rates")


def long_monologue(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human after `limits.replies_without_human` automatic replies in the thread.

    A thread that the agent has answered many times without any person looking in.
    """
    if ctx.automatic_replies >= ctx.limits.replies_without_human:
        return Verdict("human", f"{ctx.automatic_replies} automatic replies and no person yet", "long_monologue")
    return None
