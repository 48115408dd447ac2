"""Amazon SES's bounces and complaints, which come as JSON in an ordinary mail (or webhook) from SNS.

Shape: https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from services.mail.message import ParsedMail
from services.mail.report_tokens import HEADER
from services.mail.reports.report import FailedRecipient, Leaf, Report
from services.mail.reports.status import enhanced_code, severity


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
