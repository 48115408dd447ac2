"""Mail that passed a limit of the reader is set aside with that limit as the reason."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def over_limits(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what the reader parked."""
    return Verdict("park", mail.parked, "over_limits") if mail.parked else None
