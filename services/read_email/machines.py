"""What of our own side no colleague wrote: alerts, reports, and what programs send in a colleague's name.

Told by headers and by the form of a report alone, never by words: what reads like an automatic reply may be typed.
"""

from __future__ import annotations

from collections.abc import Collection

from services.mail.alert_ids import is_alert_id
from services.mail.filters.machines import is_machine
from services.mail.mailbox import MailboxKey
from services.mail.reports.auto_reply import auto_submitted, responder_header
from services.read_email.contents import Reading


def answered_by_itself(reading: Reading) -> bool:
    """Whether a program reported or replied, or it is an alert of ours: nobody has dealt with what it names."""
    reported = reading.report is not None and reading.report.kind != "auto_reply"
    replied = auto_submitted(reading.mail) == "auto-replied" or bool(responder_header(reading.mail))
    return reported or replied or is_alert_id(reading.message_id)


def sent_by_machine(reading: Reading, own: Collection[MailboxKey], envelope_from: str | None) -> bool:
    """Whether a copy shows that a program made it: also what was generated, has a null path, or is nobody's address."""
    mail = reading.mail
    senders = [one for one in (*mail.from_, *mail.sender) if one.key not in own]
    return (
        answered_by_itself(reading)
        or bool(auto_submitted(mail))
        or envelope_from == ""
        or any(is_machine(one.addr) for one in senders)
    )
