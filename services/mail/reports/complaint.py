"""Abuse complaints in the Abuse Reporting Format (RFC 5965) and feedback loops that nearly follow it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from services.mail.message import ParsedMail
from services.mail.report_tokens import HEADER
from services.mail.reports.auto_reply import auto_submitted
from services.mail.reports.bounces import addresses_in, original_message_id, original_to, report_token, returned_text
from services.mail.reports.report import FailedRecipient, Leaf, Report, enhanced_code, severity

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


# Receipts: message disposition notifications (RFC 8098), and delivery reports that say it went well.
_FIELD = re.compile(r"^(Original-Message-ID|Disposition|Final-Recipient|Reporting-UA)[ \t]*:[ \t]*(.*)$", re.I | re.M)


def read_receipt(mail: ParsedMail, parts: Sequence[Leaf]) -> Report | None:
    """The disposition notification a mail is, or None; `diagnostic` is its disposition ("displayed", "deleted")."""
    text = "\n".join(p.text for p in parts if p.content_type == "message/disposition-notification")
    if not text and "disposition-notification" not in mail.header("Content-Type").casefold():
        return None
    fields = {name.casefold(): value.strip() for name, value in _FIELD.findall(text)}
    reader = addresses_in(fields.get("final-recipient", "").rpartition(";")[2])
    return Report(
        kind="receipt",
        recipients=(FailedRecipient(reader[0]),) if reader else (),
        diagnostic=fields.get("disposition", "").rpartition(";")[2].strip(),
        original_message_id=fields.get("original-message-id", "").strip("<>")
        or original_message_id(returned_text(parts)),
        reporting_mta=fields.get("reporting-ua", ""),
    )


# Amazon SES's bounces and complaints, which come as JSON in an ordinary mail (or webhook) from SNS.
#
# Shape: https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html


def is_from_sns(mail: ParsedMail) -> bool:
    """Whether Amazon's notification service is the author."""
    return any(a.key.domain == "sns.amazonaws.com" for a in mail.from_)


def read_ses_notice(parts: Sequence[Leaf]) -> Report | None:
    """The bounce or complaint that a JSON body tells of, or None."""
    text = next((p.text for p in parts if p.content_type.startswith("text/")), "").lstrip()
    notice = _notice(text) if text.startswith("{") else None
    kind = str((notice or {}).get("notificationType") or (notice or {}).get("eventType") or "").casefold()
    if notice is None or kind not in ("bounce", "complaint"):
        return None
    told, mail = _mapping(notice.get(kind)), _mapping(notice.get("mail"))
    people = told.get("bouncedRecipients") or told.get("complainedRecipients")
    failed = tuple(_recipient(_mapping(p), kind, str(told.get("bounceType"))) for p in people or ())
    return Report(
        kind="bounce" if kind == "bounce" else "complaint",
        severity=failed[0].severity if failed and kind == "bounce" else "",
        recipients=failed,
        status=failed[0].status if failed else "",
        diagnostic=failed[0].diagnostic if failed else str(told.get("complaintFeedbackType") or ""),
        original_message_id=str(_mapping(mail.get("commonHeaders")).get("messageId") or "").strip("<>"),
        reporting_mta=re.sub(r"^\w+;\s*", "", str(told.get("reportingMTA") or "")),
        token=_token(mail),
    )


def _notice(text: str) -> Mapping[str, Any] | None:
    """The notice itself, out of its SNS envelope where it has one; what follows the JSON is not looked at."""
    try:
        outer = _mapping(json.JSONDecoder(strict=False).raw_decode(text)[0])
        inner = outer.get("Message")
        return _mapping(json.loads(inner, strict=False)) if isinstance(inner, str) else outer
    except (ValueError, RecursionError):
        return None


def _recipient(person: Mapping[str, Any], kind: str, bounce_type: str) -> FailedRecipient:
    diagnostic = str(person.get("diagnosticCode") or "")
    status = enhanced_code(str(person.get("status") or "")) or enhanced_code(diagnostic)
    address = str(person.get("emailAddress") or "")
    if kind == "complaint":
        return FailedRecipient(address)
    known = status or bounce_type == "Permanent"
    return FailedRecipient(address, status, diagnostic, severity(status, diagnostic) if known else "soft")


def _token(mail: Mapping[str, Any]) -> str:
    """The report token among the original headers, which SES gives back where its topic is set to include them."""
    listed = mail.get("headers")
    named = (_mapping(one) for one in (listed if isinstance(listed, list) else ()))
    return next((str(one.get("value")) for one in named if str(one.get("name")).casefold() == HEADER.casefold()), "")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
