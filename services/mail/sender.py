"""Who counts as one sender where many are counted."""

from __future__ import annotations

from services.core.mailbox import PUBLIC_PROVIDERS, MailboxKey
from services.mail.authentication.sender_checks import domain_of, organizational


def sender_of(address: str) -> str:
    """An organization, whose addresses cost nothing, and at a public provider a mailbox, with whatever plus-address."""
    company = organizational(domain_of(address))
    return MailboxKey(address).undetailed if not company or company in PUBLIC_PROVIDERS else company
