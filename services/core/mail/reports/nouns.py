"""The nouns of reports: what a machine told us about a mail, and about whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["bounce", "complaint", "receipt", "auto_reply"]
Severity = Literal["hard", "soft", "delayed", ""]


@dataclass(frozen=True, slots=True)
class FailedRecipient:
    """One address that a report names, with what was said about it alone (RFC 3464 section 2.3)."""

    address: str
    status: str = ""  # enhanced status code, "5.1.1"; "" when none was given
    diagnostic: str = ""
    severity: Severity = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One machine-made notice about another mail. Untrusted until `original_message_id` proves to be ours.

    `severity` is the worst of its recipients for a bounce and "" for all other kinds.
    """

    kind: Kind
    severity: Severity = ""
    recipients: tuple[FailedRecipient, ...] = ()
    status: str = ""
    diagnostic: str = ""
    original_message_id: str = ""  # without angle brackets, from the returned headers
    reporting_mta: str = ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The failed (or complaining) addresses alone."""
        return tuple(r.address for r in self.recipients)
