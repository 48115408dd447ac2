"""Senders that are no person: mailer-daemon, no-reply, list owners and their kin (RFC 3834 section 2)."""

from __future__ import annotations

import re

from services.core.mail.filters.verdict import FilterContext, Verdict
from services.core.mail.message import ParsedMail
from services.core.mail.reports.bounce_wording import from_daemon

_NOBODY = re.compile(
    r"^(.*[-_.+])?(no[-_.]?reply|do[-_.]?not[-_.]?(reply|respond|answer)|not?[-_.]?reply|ne[-_.]?pas[-_.]?repondre|nicht[-_.]?antworten|"
    r"no[-_.]?responder|nao[-_.]?respond(a|er)|non[-_.]?rispondere|nepasrepondre|niet[-_.]?beantwoorden|mailer[-_.]?daemon|"
    r"bounces?|unsubscribe|notifications?|auto[-_.]?(mailer|confirm|notify|reply)|automail(er)?|cron|daemon|www-data|httpd|nobody|"
    r"root|listserv|majordomo|mailman|sympa|ezmlm|majordom)([-_.+=].*)?$",
    re.I,
)
_LIST_OWNER = re.compile(r"^(owner-.+|.+-(request|owner|bounces?|return-.+))$", re.I)


def machine_sender(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what a daemon, a no-reply address or a list's machinery sent."""
    if from_daemon(mail):
        return Verdict("park", "a mail system sent it", "machine_sender")
    for address in (*mail.from_, *mail.sender):
        local = address.addr.rpartition("@")[0]
        if _NOBODY.match(local) or _LIST_OWNER.match(local):
            return Verdict("park", f"{address.addr} is not read by a person", "machine_sender")
    return None
