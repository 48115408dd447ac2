"""Senders that are no person, lists, and the person who may stand in a machine's mail."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import Address, ParsedMail

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
_MANY = re.compile(
    r"^(all|every(one|body)|staff|company|alle|tous|toutes|todos|tutti|iedereen|wszyscy)([-_.].+)?$|"
    r"^.+[-_](all|list|users|announce|discuss|members)$|^.+-l$",
    re.I,
)
_LIST_HOST = re.compile(r"^(lists?|mailing-?lists?|groups?|mailman|listserv|sympa|ml)\.", re.I)
_NAME = re.compile(r"mailer.?daemon|mail delivery (sub)?system", re.I)


def machine_sender(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what a daemon, a no-reply address or a list's machinery sent.

    Senders that are no person: mailer-daemon, no-reply, list owners and their kin (RFC 3834 section 2).
    """
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


def is_list(address: str) -> bool:
    """Whether an address is named as those behind which many people stand, by its name or its host's."""
    local, _, host = address.rpartition("@")
    return bool(_MANY.match(local) or _LIST_HOST.match(host))


_LIST_HEADERS = (
    "List-Id", "List-Post", "List-Unsubscribe", "List-Help", "List-Subscribe", "List-Owner", "List-Archive",
    "Mailing-List", "X-Mailing-List", "X-BeenThere", "X-Mailman-Version", "X-List-Name", "X-Listname", "X-ML-Name",
    "X-MLServer", "X-Listserver", "X-ListMember", "X-Campaign", "X-CampaignID", "X-Mailer-RecptId", "X-Loop-List",
    "X-Newsletter-ID",
)  # fmt: skip
_BULK = re.compile(r"^\s*(bulk|list|junk)\b", re.I)
_BULK_HEADERS = ("Precedence", "X-Precedence")


def mailing_list(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what was sent to many.

    Mailing lists and bulk mail: List-* (RFC 2369, 2919), Precedence, and the marks of list software without them.
    """
    name = next((n for n in _LIST_HEADERS if mail.header(n).strip()), "")
    if name:
        return Verdict("park", f"it came through a list ({name})", "mailing_list")
    if any(_BULK.match(v) for n in _BULK_HEADERS for v in mail.all(n)):
        return Verdict("park", "it is bulk mail (Precedence)", "mailing_list")
    return None


SILENT = ("own_loop", "auto_submitted", "null_return_path", "machine_sender", "response_suppressed")
_TO_MANY = ("List-Id", "List-Post", "List-Unsubscribe", "Precedence", "X-Precedence", "Feedback-ID")


def reply_to_person(mail: ParsedMail, ctx: FilterContext, verdict: Verdict) -> Verdict:
    """To a human what would be set aside in silence though a person's Reply-To stands in it; else the same verdict.

    Mail to many, reports, automatic replies and what we sent ourselves stay what they are.

    A machine's mail in which a person may stand: contact forms and forwarders name whom to answer in Reply-To.

    Whether that person may be answered is for the inbox's own settings to say; that somebody sees the mail is decided
    here.
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
