"""Abuse complaints in the Abuse Reporting Format (RFC 5965) and feedback loops that nearly follow it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.mail.message import ParsedMail
from services.mail.reports.auto_reply import auto_submitted
from services.mail.reports.dsn import addresses_in
from services.mail.reports.report import FailedRecipient, Leaf, Report
from services.mail.reports.returned import original_message_id, original_to, report_token, returned_text

_FEEDBACK_TYPE = re.compile(r"^Feedback-Type[ \t]*:[ \t]*(\S+)", re.I | re.M)
_RECIPIENT = re.compile(r"^(?:Original-Rcpt-To|Removal-Recipient|Redacted-Address)[ \t]*:(.*)$", re.I | re.M)
_MTA = re.compile(r"^(?:Reporting-MTA|User-Agent)[ \t]*:[ \t]*(?:\w+;[ \t]*)?(.*)$", re.I | re.M)
_LOOP_SUBJECT = re.compile(
    r"^\W*(complaint about message from|abuse report|spam (report|complaint)|\[?feedback loop)", re.I
)
_LOOP_WORDS = re.compile(
    r"(abuse|complaint) (report|about)|feedback loop|an email abuse report|marked (this|your|the) \S+ as spam", re.I
)


def read_complaint(mail: ParsedMail, parts: Sequence[Leaf]) -> Report | None:
    """The complaint a mail is, or None. Its recipients are who complained, where that is not redacted."""
    feedback = "\n".join(p.text for p in parts if p.content_type == "message/feedback-report")
    kind = _FEEDBACK_TYPE.search(feedback)
    if not (kind or feedback or _near_arf(mail, parts) or is_opt_out(mail)):
        return None
    returned = returned_text(parts)
    written = " ".join(_RECIPIENT.findall(feedback)) or original_to(returned)
    mta = _MTA.search(feedback)
    return Report(
        kind="complaint",
        recipients=tuple(FailedRecipient(a) for a in dict.fromkeys(addresses_in(written))),
        diagnostic=kind.group(1).casefold() if kind else "abuse",
        original_message_id=original_message_id(returned),
        reporting_mta=mta.group(1).strip() if mta else "",
        token=report_token(returned),
    )


def is_opt_out(mail: ParsedMail) -> bool:
    """Whether a mail program asks, for its reader, to be unsubscribed (mailto kin of RFC 8058)."""
    asked = mail.subject.strip().casefold() == "unsubscribe" and bool(auto_submitted(mail))
    return asked or mail.header("X-Apple-Unsubscribe").strip().casefold() == "true"


def may_be_complaint(mail: ParsedMail) -> bool:
    """What the headers alone can say of near-ARF complaints."""
    return bool(_LOOP_SUBJECT.search(mail.subject)) or mail.header("X-Loop").casefold() == "scomp" or is_opt_out(mail)


def _near_arf(mail: ParsedMail, parts: Sequence[Leaf]) -> bool:
    """Feedback loops without the report part: a complaint's header or subject, and its words or the mail itself."""
    if mail.header("X-Report-Type").casefold().startswith("feedback") or "feedback-report" in mail.header(
        "Content-Type"
    ):
        return True
    text = next((p.text for p in parts if p.content_type.startswith("text/")), "")
    return may_be_complaint(mail) and (any(p.returned for p in parts) or bool(_LOOP_WORDS.search(text[:2000])))
