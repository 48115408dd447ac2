"""A machine's mail in which a person may stand: contact forms and forwarders name whom to answer in Reply-To.

Whether that person may be answered is for the inbox's own settings to say; that somebody sees the mail is decided here.
"""

from __future__ import annotations

from services.mail.filters.machine_sender import is_machine
from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import Address, ParsedMail

SILENT = ("own_loop", "auto_submitted", "null_return_path", "machine_sender", "response_suppressed")
_TO_MANY = ("List-Id", "List-Post", "List-Unsubscribe", "Precedence", "X-Precedence", "Feedback-ID")


def reply_to_person(mail: ParsedMail, ctx: FilterContext, verdict: Verdict) -> Verdict:
    """To a human what would be set aside in silence though a person's Reply-To stands in it; else the same verdict.

    Mail to many, reports, automatic replies and what we sent ourselves stay what they are.
    """
    if verdict.filter not in SILENT or verdict.kind not in ("park", "loop"):
        return verdict
    person = _person(mail, ctx)
    if person is None or ctx.report or ctx.message_id_is_ours or any(mail.header(name) for name in _TO_MANY):
        return verdict
    return Verdict("human", f"{verdict.reason}, but it asks to be answered at {person.addr}", verdict.filter)


def _person(mail: ParsedMail, ctx: FilterContext) -> Address | None:
    """The one address in Reply-To, if it is neither a machine's nor of the sender's domain or ours."""
    if len(mail.reply_to) != 1:
        return None
    (found,) = mail.reply_to
    theirs = {_domain(one.key) for one in (*mail.from_, *mail.sender)} - {""}
    ours = {_domain(one) for one in ctx.own_addresses}
    return None if is_machine(found.addr) or _domain(found.key) in theirs | ours else found


def _domain(address: str) -> str:
    return address.rpartition("@")[2]
