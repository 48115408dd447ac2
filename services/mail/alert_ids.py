"""Message-IDs of alerts to colleagues: known again in what answers one, or reports that one came back.

They prove nothing and open nothing: who forges one has their own mail set aside.
"""

from __future__ import annotations

import re
from uuid import UUID

from services.mail.mailbox import ascii_lower, domain_name

_ALERT = re.compile(r"alert\.[0-9a-f]{32}@", re.IGNORECASE)


def alert_message_id(id: UUID, domain: str) -> str:
    """The Message-ID, without angle brackets, of the alert mail with this id."""
    return f"alert.{id.hex}@{domain_name(domain) or ascii_lower(domain)}"


def is_alert_id(message_id: str) -> bool:
    """Whether a Message-ID is one of ours for an alert."""
    return _ALERT.match(message_id.strip("<> ")) is not None
