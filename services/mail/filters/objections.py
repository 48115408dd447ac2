"""Whether no person wrote a mail, or too many were written: robots, machines, lists, storms."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import Address, ParsedMail
from services.mail.reports.auto_reply import auto_submitted as keyword_of
from services.mail.reports.auto_reply import responder_header
from services.mail.reports.automatic.judgement import Judgement, judge_automatic
from services.mail.reports.wording import find_wording


def auto_submitted(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park anything but `Auto-Submitted: no`, and what a responder's own header marks.

    Mail whose headers say that no person sent it: Auto-Submitted (RFC 3834) and what came before it.
    """
    if keyword := keyword_of(mail):
        return Verdict("park", f"Auto-Submitted: {keyword}", "auto_submitted")
    if header := responder_header(mail):
        return Verdict("park", f"an automatic responder sent it ({header})", "auto_submitted")
    return None


def null_return_path(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park a null envelope sender; where the source does not tell it, the topmost Return-Path stands for it.

    The null return path: its sender wants no answer, whatever it is (RFC 3834 section 2, RFC 5321 section 4.5.5).
    """
    null = (
        ctx.envelope_from == ""
        if ctx.envelope_from is not None
        else mail.header("Return-Path").split() in (["<>"], ["<", ">"])
    )
    return Verdict("park", "the return path is null", "null_return_path") if null else None


_REPLIES = {"all", "oof", "autoreply"}


def response_suppressed(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park where replies are suppressed; receipts alone (DR, NDR, RN, NRN) say nothing about replies.

    X-Auto-Response-Suppress (Microsoft, MS-OXCMAIL 2.2.3.2.14): the sender asks for no automatic response.
    """
    asked = set(re.split(r"[\s,;]+", ",".join(mail.all("X-Auto-Response-Suppress")).casefold()))
    if asked & _REPLIES:
        return Verdict("park", "its sender asks for no automatic response", "response_suppressed")
    return None


def automatic_wording(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park an automatic reply by two kinds of evidence or many words; to a human what may be one.

    Out-of-office notes and acknowledgements whose headers do not say what they are: by subject and words, and by how
    fast and how often they came, where that is known.
    """
    found = _judged(mail, ctx)
    if not found.why:
        return None
    if found.sure:
        return Verdict("park", f"an automatic reply: {found.why}", "automatic_wording")
    return Verdict("human", f"perhaps an automatic reply: {found.why}", "automatic_wording")


def _judged(mail: ParsedMail, ctx: FilterContext) -> Judgement:
    """What the report says of headers and words, and what only the store makes sure of."""
    report = ctx.report if ctx.report and ctx.report.kind == "auto_reply" else None
    habits = {"unread": ctx.unread, "within_seconds": ctx.within_seconds, "seen_before": ctx.seen_before}
    if any(habits.values()) and (report is None or report.doubtful):
        return judge_automatic(mail, **habits)
    return Judgement(report.diagnostic, sure=not report.doubtful) if report else Judgement()


_HEADERS = ("X-Challenge", "X-Boxtrapper", "X-UOL-AntiSpam", "X-AntiSpam-Challenge")
_OF_USERS = ("X-TMDA-Confirm-Done", "X-TMDA-Fingerprint", "X-ASK-Auth")  # in the mail of everybody who has the software
OPENING_CHARS = 1200
_SENDER = re.compile(r"(confirm|challenge|verify|autorespond|boxtrapper|antispam(uol)?|tmda)[-_+.]?\S{0,64}@", re.I)
_ASKS = re.compile(
    r"confirm|verif|challenge|approv|authenticat|spam|whitelist|request.?#|bestätig|valid|подтверд|провер|bevestig|potwierd|weryfik|確認|認証|确认|验证|驗證",
    re.I,
)


def challenge(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park a challenge: by its maker's header, its sender, or a subject and an opening that ask for confirmation.

    Challenge-response systems, which ask us to prove that we are a person: answering would train them on us.
    """
    if any(mail.header(name) for name in _HEADERS) or _asks(mail):
        return Verdict("park", "a challenge that asks us to confirm our mail", "challenge")
    return None


def _asks(mail: ParsedMail) -> bool:
    addressed = any(_SENDER.search(a.addr) for a in (*mail.from_, *mail.reply_to))
    if not (addressed or any(mail.header(name) for name in _OF_USERS) or _ASKS.search(mail.subject)):
        return False
    return bool(find_wording("challenge_sentences", " ".join((mail.reply.new or mail.text).split())[:OPENING_CHARS]))


# Senders that are no person, lists, and the person who may stand in a machine's mail.
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


# Breakers: storms of mail, rates by sender, company, thread and everybody, threads without a person.


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
