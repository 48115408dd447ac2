"""Mail that the receiving server marked as spam."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail

_MARKS = (
    ("X-Spam-Flag", re.compile(r"^\s*yes", re.I)),
    ("X-Spam-Status", re.compile(r"^\s*yes", re.I)),
    ("X-Spam", re.compile(r"^\s*(yes|true)", re.I)),
    ("X-Rspamd-Action", re.compile(r"reject|add header|rewrite subject|quarantine", re.I)),
    ("X-SES-Spam-Verdict", re.compile(r"fail", re.I)),
    ("X-SES-Virus-Verdict", re.compile(r"fail", re.I)),
    ("X-Mailgun-SFlag", re.compile(r"^\s*yes", re.I)),
    ("X-MS-Exchange-Organization-SCL", re.compile(r"^\s*[5-9]")),
    ("X-Virus-Status", re.compile(r"infected|^\s*yes", re.I)),
)


def spam(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what carries a spam or virus mark."""
    for name, mark in _MARKS:
        if any(mark.search(value) for value in mail.all(name)):
            return Verdict("park", f"marked as spam ({name})", "spam")
    return None
