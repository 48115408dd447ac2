"""Mailing lists and bulk mail: List-* (RFC 2369, 2919), Precedence, and the marks of list software without them."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail

_LIST_HEADERS = (
    "List-Id", "List-Post", "List-Unsubscribe", "List-Help", "List-Subscribe", "List-Owner", "List-Archive",
    "Mailing-List", "X-Mailing-List", "X-BeenThere", "X-Mailman-Version", "X-List-Name", "X-Listname", "X-ML-Name",
    "X-MLServer", "X-Listserver", "X-ListMember", "X-Campaign", "X-CampaignID", "X-Mailer-RecptId", "X-Loop-List",
    "X-Newsletter-ID",
)  # fmt: skip
_BULK = re.compile(r"^\s*(bulk|list|junk)\b", re.I)
_BULK_HEADERS = ("Precedence", "X-Precedence")


def mailing_list(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what was sent to many."""
    name = next((n for n in _LIST_HEADERS if mail.header(n).strip()), "")
    if name:
        return Verdict("park", f"it came through a list ({name})", "mailing_list")
    if any(_BULK.match(v) for n in _BULK_HEADERS for v in mail.all(n)):
        return Verdict("park", "it is bulk mail (Precedence)", "mailing_list")
    return None
