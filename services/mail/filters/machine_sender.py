"""Senders that are no person: mailer-daemon, no-reply, list owners and their kin (RFC 3834 section 2)."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail

_NO_REPLY = re.compile(
    r"^(.*[-_.+])?(no[-_.]?reply|do[-_.]?not[-_.]?(reply|respond|answer)|not[-_.]?reply|ne[-_.]?pas[-_.]?repondre|"
    r"(nicht|nicht[-_.]?bitte|bitte[-_.]?nicht)[-_.]?antworten|no[-_.]?responder|nao[-_.]?respond(a|er)|"
    r"non[-_.]?rispondere|niet[-_.]?beantwoorden|nie[-_.]?odpowiadac)([-_.+=].*)?$",
    re.I,
)
_MACHINE = re.compile(
    r"^((.*-)?daemon|mailer[-_.]?daemon|post_?master|bounces?|unsubscribe|notifications?|auto[-_.]?(mailer|confirm|notify|"
    r"reply|respond(er)?)|automail(er)?|cron|www-data|httpd|nobody|root|listserv|majordomo?|mailman|sympa|ezmlm)([-+=].*)?$",
    re.I,
)
_LIST_MACHINERY = re.compile(r"^(owner-.+|.+-(request|owner|bounces?|return-.+))$", re.I)
_NAME = re.compile(r"mailer.?daemon|mail delivery (sub)?system", re.I)


def machine_sender(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what a daemon, a no-reply address or a list's machinery sent."""
    if _NAME.search(mail.header("From")):
        return Verdict("park", "a mail system sent it", "machine_sender")
    for address in (*mail.from_, *mail.sender):
        if is_machine(address.addr):
            return Verdict("park", f"{address.addr} is not read by a person", "machine_sender")
    return None


def is_machine(address: str) -> bool:
    """Whether an address is named as those that no person reads."""
    local = address.rpartition("@")[0]
    return any(kind.match(local) for kind in (_NO_REPLY, _MACHINE, _LIST_MACHINERY))
