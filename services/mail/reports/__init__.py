"""Machine-made notices, read: bounces (RFC 3464, and many that never read it), complaints, receipts, auto replies.

A report is a claim by whoever sent it. It is believed only where something proves it (`read_email.proof`);
that check needs the database and is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from services.mail.headers import clean
from services.mail.message import ParsedMail
from services.mail.reports import bounces
from services.mail.reports.auto_reply import read_auto_reply
from services.mail.reports.bounce_wording import from_daemon, is_daemon, is_failure_subject
from services.mail.reports.bounces import original_message_id, report_token, returned_text
from services.mail.reports.complaint import is_from_sns, may_be_complaint, read_complaint, read_receipt, read_ses_notice
from services.mail.reports.report import FailedRecipient, Kind, Leaf, Report, Severity, leaves

__all__ = ["FailedRecipient", "Kind", "Report", "Severity", "is_daemon", "read_report"]

_WORST: tuple[Severity, ...] = ("hard", "soft", "delayed")


def read_report(mail: ParsedMail, raw: bytes) -> Report | None:
    """The report a mail is, or None for a mail that somebody wrote. Never raises; holds no control character.

    Complaints are asked for first (they too come from daemons), automatic replies last.
    """
    report = _report(mail, raw)
    return report and _cleaned(report)


def _report(mail: ParsedMail, raw: bytes) -> Report | None:
    if _may_be_notice(mail):
        parts = leaves(raw)
        for read in (read_complaint, read_receipt, _read_bounce):
            if report := read(mail, parts):
                return report
    return read_auto_reply(mail)


def _cleaned(report: Report) -> Report:
    return replace(
        report,
        recipients=tuple(replace(one, **_clean_texts(one)) for one in report.recipients),
        **_clean_texts(report),
    )


def _clean_texts(told: Report | FailedRecipient) -> dict[str, Any]:
    values = {field.name: getattr(told, field.name) for field in fields(told)}
    return {name: clean(value) for name, value in values.items() if isinstance(value, str)}


def _may_be_notice(mail: ParsedMail) -> bool:
    """Headers first: the parts of a mail that somebody wrote need not be looked at again."""
    claimed = "report" in mail.header("Content-Type").casefold() or is_from_sns(mail)
    return claimed or bounces.may_be_bounce(mail) or may_be_complaint(mail)


def _read_bounce(mail: ParsedMail, parts: Sequence[Leaf]) -> Report | None:
    if is_from_sns(mail) and (notice := read_ses_notice(parts)):
        return notice
    told = bounces.status_part(parts)
    if told and _is_report(mail):
        if not bounces.is_failure(told):
            return _bounce("receipt", (), told.reporting_mta, parts)
        failed = bounces.explained(bounces.failures(told), parts) or bounces.recipients(mail, parts)
        return _bounce("bounce", failed, told.reporting_mta, parts)
    if bounces.is_bounce(mail, parts):
        return _bounce("bounce", bounces.recipients(mail, parts), "", parts)
    return None


def _is_report(mail: ParsedMail) -> bool:
    """A status part makes a report only in a report's envelope: a person may forward one with all its parts."""
    return "report" in mail.header("Content-Type").casefold() or from_daemon(mail) or is_failure_subject(mail.subject)


def _bounce(kind: Kind, failed: tuple[FailedRecipient, ...], mta: str, parts: Sequence[Leaf]) -> Report:
    first = failed[0] if failed else FailedRecipient("")
    returned = returned_text(parts)
    worst: Severity = next((s for s in _WORST if any(f.severity == s for f in failed)), "soft")
    return Report(
        kind=kind,
        severity=worst if kind == "bounce" else "",
        recipients=failed,
        status=first.status,
        diagnostic=first.diagnostic,
        original_message_id=original_message_id(returned),
        reporting_mta=mta,
        token=report_token(returned),
    )
