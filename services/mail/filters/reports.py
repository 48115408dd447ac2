"""Reports about a mail: complaints, bounces, receipts, a calendar's replies, and bounces that a person passes on."""

from __future__ import annotations

import re

from services.core.mailbox import MailboxKey
from services.mail.content_types import CALENDAR
from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.reports.bounce_wording import is_failure_subject
from services.mail.thread_ids import base_subject


def complaint(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A proven complaint counts; one that only names a mail of ours is for a person; any other is set aside.

    Abuse complaints (RFC 5965): somebody marked a mail of ours as spam.
    """
    if not (ctx.report and ctx.report.kind == "complaint"):
        return None
    if not ctx.report_names_ours:
        return Verdict("park", "a complaint that names no mail we sent", "complaint")
    if ctx.report_proven:
        return Verdict("complaint", "a recipient marked our mail as spam", "complaint")
    return Verdict("human", "it says that a recipient marked our mail as spam, and nothing proves that", "complaint")


def bounce(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A proven bounce is one; a failure that only names a mail of ours is for a person; any other is set aside.

    Backscatter names no mail of ours. What names one unproven may be a forgery that wants an address suppressed.

    Delivery failures and delays (RFC 3464), believed only where something proves that they are about a mail of ours.
    """
    if not (ctx.report and ctx.report.kind == "bounce"):
        return None
    if not ctx.report_names_ours:
        return Verdict("park", "a bounce that names no mail we sent", "bounce")
    if ctx.report_proven:
        return Verdict("bounce", f"our mail could not be delivered ({ctx.report.severity})", "bounce")
    if ctx.report.severity == "hard":
        return Verdict("human", "it says that a mail of ours could not be delivered, and nothing proves that", "bounce")
    return Verdict("park", f"a bounce ({ctx.report.severity}) that names a mail of ours, unproven", "bounce")


def receipt(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park receipts.

    Read and delivery receipts (RFC 8098): news about a mail of ours, nothing to answer.
    """
    if ctx.report and ctx.report.kind == "receipt":
        return Verdict("park", f"a receipt ({ctx.report.diagnostic or 'delivered'})", "receipt")
    return None


LOOKED_AT_BYTES = 64 * 1024

_FOLD = re.compile(rb"\r?\n[ \t]")
_REPLY = re.compile(rb"^METHOD[^:\r\n]*:[ \t]*(?:REPLY|REFRESH)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(rb"\bPARTSTAT=(ACCEPTED|DECLINED|TENTATIVE|DELEGATED)", re.IGNORECASE)
_ANY_METHOD = re.compile(rb"^METHOD\b", re.IGNORECASE | re.MULTILINE)
_ATTENDEE = re.compile(rb"^ATTENDEE\b[^\r\n]*", re.IGNORECASE | re.MULTILINE)
_COMMENT = re.compile(rb"^COMMENT[^:\r\n]*:[ \t]*\S", re.IGNORECASE | re.MULTILINE)


def calendar_reply(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park them; one with a comment goes to a human.

    Answers to invitations (RFC 5546, 3.2.3; RFC 6047): a program accepts or declines, and a person may add a line. Some
    programs leave out METHOD: then an event whose one attendee is the author, and has decided, is a reply.
    """
    for part in mail.attachments:
        if part.claimed_type in CALENDAR or part.content_type in CALENDAR:
            content = _FOLD.sub(b"", part.content[:LOOKED_AT_BYTES])
            if _REPLY.search(content):
                return _verdict(content, commented=False)
            if _is_authors_own_word(content, mail):  # or an exported event, about which the text may ask something
                return _verdict(content, commented=bool(mail.text.strip()))
    return None


def _is_authors_own_word(content: bytes, mail: ParsedMail) -> bool:
    """Whether an event without METHOD names one attendee alone, who has decided and wrote the mail."""
    if _ANY_METHOD.search(content) or mail.author is None:
        return False
    attendees: list[bytes] = _ATTENDEE.findall(content)
    if len(attendees) != 1 or not _STATUS.search(attendees[0]):
        return False
    _, _, address = attendees[0].decode("utf-8", "replace").rpartition(":")
    return mail.author.key == MailboxKey(address)


def _verdict(content: bytes, *, commented: bool) -> Verdict:
    said = _STATUS.search(content)
    what = f"a calendar's reply ({said[1].decode().lower()})" if said else "a calendar's reply"
    if commented or _COMMENT.search(content):
        return Verdict("human", f"{what} with a comment", "calendar_reply")
    return Verdict("park", what, "calendar_reply")


_TRANSCRIPT = re.compile(
    r"^[ \t>|]{0,20}(final-recipient\s*:|diagnostic-code\s*:|-+ transcript of session|remote host said|"
    r"[45]\d\d[ -][45]\.\d+\.\d+)",
    re.I | re.M,
)


def forwarded_bounce(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: a reply's or forward's subject that is a delivery failure's, with its transcript in the body.

    A person who forwards us a delivery failure: our mail or theirs got lost, and somebody should look.
    """
    if is_failure_subject(base_subject(mail.subject)) and _TRANSCRIPT.search(mail.text):
        return Verdict("human", "it passes on a delivery failure", "forwarded_bounce")
    return None


# Mail that comes back, comes twice, answers our own alerts, or is beyond what is read.


def unsubscribes(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Set aside what a mail program or a person sends to get no more mail that nobody asked for: it is done already."""
    return Verdict("park", "they unsubscribe from mail that we begin", "unsubscribes") if ctx.unsubscribes else None


def over_limits(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what the reader parked.

    Mail that passed a limit of the reader is set aside with that limit as the reason.
    """
    return Verdict("park", mail.parked, "over_limits") if mail.parked else None


def duplicate(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """The mail belongs to the first that was stored; this one is logged.

    The same mail once more: another inbox, another folder, or a source that delivers twice.
    """
    return Verdict("duplicate", f"already received as {ctx.duplicate_of}", "duplicate") if ctx.duplicate_of else None


def own_loop(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A loop where the author, the sender, the reply address or the envelope is ourselves.

    Our own mail coming back: from one of our addresses, or with a Message-ID that we made.
    """
    if ctx.message_id_is_ours:
        return Verdict("loop", "its Message-ID is one that we sent", "own_loop")
    written = {a.key for a in (*mail.from_, *mail.sender, *mail.reply_to)} | {MailboxKey(ctx.envelope_from or "")}
    ours = sorted(written & ctx.own_addresses)
    return Verdict("loop", f"it comes from our own address {ours[0]}", "own_loop") if ours else None


def answers_alert(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park both: nobody who answers an alert waits for a reply, and the operator sees a lost one in the status.

    What comes because of our own alerts to colleagues: an answer, or a report that one could not be delivered.
    """
    if ctx.alert == "answered":
        return Verdict("park", "it answers an alert that we sent to a colleague", "answers_alert")
    if ctx.alert == "returned":
        said = ctx.report.diagnostic if ctx.report else ""
        return Verdict("park", f"an alert of ours could not be delivered: {said}".rstrip(": ")[:300], "alert_returned")
    return None
