"""Mail that no person sent: by its headers, its return path, its words, or what it asks of us."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
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
