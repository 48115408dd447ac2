"""A report: what a machine told us about a mail, and about whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.mail.mailbox import MailboxKey

Kind = Literal["bounce", "complaint", "receipt", "auto_reply"]
Severity = Literal["hard", "soft", "delayed", ""]


@dataclass(frozen=True, slots=True)
class FailedRecipient:
    """One address that a report names, with what was said about it alone (RFC 3464 section 2.3)."""

    address: str
    status: str = ""  # enhanced status code, "5.1.1"; "" when none was given
    diagnostic: str = ""
    severity: Severity = ""
    original: str = ""  # the address that was written to, where the report says that another one came of it


@dataclass(frozen=True, slots=True)
class Report:
    """One machine-made notice about another mail, as its sender tells it.

    `original_message_id` says which mail it is about and proves nothing; `token` is the report token it gives back.

    `severity` is the worst of its recipients for a bounce and "" for all other kinds.
    """

    kind: Kind
    severity: Severity = ""
    recipients: tuple[FailedRecipient, ...] = ()
    status: str = ""
    diagnostic: str = ""
    original_message_id: str = ""  # without angle brackets, from the returned headers
    reporting_mta: str = ""
    token: str = ""
    doubtful: bool = False  # an automatic reply by few words alone: a person may have written it

    @property
    def addresses(self) -> tuple[str, ...]:
        """The failed (or complaining) addresses alone."""
        return tuple(r.address for r in self.recipients)

    @property
    def named(self) -> tuple[str, ...]:
        """Every address that the report names as failed, each once, those that were written to included."""
        return tuple(dict.fromkeys(one for r in self.recipients for one in (r.address, r.original) if one))

    def fate_of(self, address: str) -> FailedRecipient | None:
        """What the report says about an address, by whichever of its names; None where it says nothing."""
        key = MailboxKey(address)
        return next((r for r in self.recipients if key in (MailboxKey(r.address), MailboxKey(r.original))), None)
