"""A person who forwards us a delivery failure: our mail or theirs got lost, and somebody should look."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.reports.bounce_wording import is_failure_subject
from services.mail.subjects import base_subject

_TRANSCRIPT = re.compile(
    r"^[ \t>|]{0,20}(final-recipient\s*:|diagnostic-code\s*:|-+ transcript of session|remote host said|"
    r"[45]\d\d[ -][45]\.\d+\.\d+)",
    re.I | re.M,
)


def forwarded_bounce(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human: a reply's or forward's subject that is a delivery failure's, with its transcript in the body."""
    if is_failure_subject(base_subject(mail.subject)) and _TRANSCRIPT.search(mail.text):
        return Verdict("human", "it passes on a delivery failure", "forwarded_bounce")
    return None
