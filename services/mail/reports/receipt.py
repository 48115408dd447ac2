"""Receipts: message disposition notifications (RFC 8098), and delivery reports that say it went well."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.mail.message import ParsedMail
from services.mail.reports.dsn import addresses_in
from services.mail.reports.report import FailedRecipient, Leaf, Report
from services.mail.reports.returned import original_message_id, returned_text

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
