"""What comes because of our own alerts to colleagues: an answer, or a report that one could not be delivered."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail


def answers_alert(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park both: nobody who answers an alert waits for a reply, and the operator sees a lost one in the status."""
    if ctx.alert == "answered":
        return Verdict("park", "it answers an alert that we sent to a colleague", "answers_alert")
    if ctx.alert == "returned":
        said = ctx.report.diagnostic if ctx.report else ""
        return Verdict("park", f"an alert of ours could not be delivered: {said}".rstrip(": ")[:300], "alert_returned")
    return None
