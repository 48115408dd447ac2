"""Tests an inbox as `correspondent inbox test` does: each step, what is wrong with it, and what to do about it.

Steps build on each other, so the first fault ends its chain: a name that does not resolve is not connected to.
"""

from __future__ import annotations

from collections.abc import Collection

from services.core.check.smtp import smtp_steps
from services.core.check.steps import Finding, walk
from services.core.settings import InboxSettings, SmtpSettings
from services.mail.authentication import DnsResolver, Resolver
from services.mail.imap import TokenStore
from services.mail.mailbox import ascii_lower
from services.receive_email.check.dkim import dkim_steps
from services.receive_email.check.imap import imap_steps
from services.receive_email.check.results import judge_results

__all__ = ["Finding", "check_inbox"]


async def check_inbox(
    inbox: InboxSettings,
    smtp: SmtpSettings | None = None,
    resolver: Resolver | None = None,
    authserv_ids: Collection[str] = (),
    stripping_ids: Collection[str] = (),
    tokens: TokenStore | None = None,
) -> list[Finding]:
    """What works and what does not, in the order in which it is used. Never raises, changes nothing anywhere.

    `authserv_ids` and `stripping_ids` are the settings' own names for servers whose results are believed.
    """
    ours, stripping = {ascii_lower(one) for one in authserv_ids}, {ascii_lower(one) for one in stripping_ids}
    findings: list[Finding] = []
    if inbox.imap is not None:
        await walk(findings, imap_steps(inbox.imap, lambda mails: judge_results(mails, ours, ours & stripping), tokens))
    else:
        findings.append(Finding("imap", True, f"{inbox.name} has no IMAP settings: its mail comes by webhook or file"))
    if smtp is not None:
        await walk(findings, smtp_steps(smtp, tokens))
    if inbox.dkim is not None:
        await walk(findings, dkim_steps(inbox.dkim, inbox.address, resolver or DnsResolver()))
    return findings
