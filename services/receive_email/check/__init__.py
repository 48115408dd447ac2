"""Tests an inbox as `correspondent inbox test` does: each step, what is wrong with it, and what to do about it.

Steps build on each other, so the first fault ends its chain: a name that does not resolve is not connected to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from services.core.mailbox import ascii_lower
from services.core.settings import InboxSettings, SmtpSettings
from services.mail.authentication import DnsResolver, Resolver
from services.mail.check.smtp import smtp_steps
from services.mail.check.steps import Finding, walk
from services.mail.imap import TokenStore
from services.receive_email.check.dkim import dkim_steps
from services.receive_email.check.imap import imap_steps
from services.receive_email.check.results import judge_results

__all__ = ["Finding", "check_inbox"]

LONGEST_S = 60.0  # of a whole test
NO_IMAP = "%s has no IMAP settings: its mail comes by webhook or file"
TOO_SLOW = "test again in a while; if it stays so, ask whoever runs the server that comes after the last line"


async def check_inbox(
    inbox: InboxSettings,
    smtp: SmtpSettings | None = None,
    resolver: Resolver | None = None,
    authserv_ids: Collection[str] = (),
    stripping_ids: Collection[str] = (),
    tokens: TokenStore | None = None,
    within_s: float = LONGEST_S,
) -> list[Finding]:
    """What works and what does not, in the order in which it is used. Never raises, changes nothing anywhere.

    `authserv_ids` and `stripping_ids` are the settings' own names for servers whose results are believed. After
    `within_s` it stops, which is a finding, too.
    """
    ours, stripping = {ascii_lower(one) for one in authserv_ids}, {ascii_lower(one) for one in stripping_ids}
    chains = [smtp_steps(smtp, tokens)] if smtp is not None else []
    if inbox.imap is not None:
        chains.insert(0, imap_steps(inbox.imap, lambda mails: judge_results(mails, ours, ours & stripping), tokens))
    if inbox.dkim is not None:
        chains.append(dkim_steps(inbox.dkim, inbox.address, resolver or DnsResolver()))
    findings = [] if inbox.imap is not None else [Finding("imap", True, NO_IMAP % inbox.name)]
    try:
        async with asyncio.timeout(within_s):
            for steps in chains:
                await walk(findings, steps)
    except TimeoutError:
        findings.append(Finding("time", False, f"stopped after {within_s:g} s: a server takes too long", TOO_SLOW))
    return findings
