"""Where Google and Microsoft ask for consent to read and send a mailbox's mail, and which scopes that takes."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Provider:
    """An OAuth provider's addresses. `device_url` is "" where no mailbox is granted by a code on another device."""

    name: str
    authorize_url: str
    token_url: str
    device_url: str
    scope: str
    imap_host: str
    smtp_host: str
    extra: tuple[tuple[str, str], ...] = ()  # of the authorization request

    def servers(self, address: str, oauth: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The `imap` and `smtp` entries of an inbox whose login is this grant."""
        login = {"username": address, "oauth": oauth}
        return {
            "imap": {"host": self.imap_host, "port": 993, "tls": "implicit", **login},
            "smtp": {"host": self.smtp_host, "port": 587, "tls": "starttls", **login},
        }


_MICROSOFT = "https://login.microsoftonline.com/{tenant}/oauth2/v2.0"
_OUTLOOK = "https://outlook.office.com/"

PROVIDERS = MappingProxyType(
    {
        "google": Provider(
            name="google",
            authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
            token_url="https://oauth2.googleapis.com/token",
            device_url="",  # Google's device flow grants no mail scope
            scope="https://mail.google.com/",
            imap_host="imap.gmail.com",
            smtp_host="smtp.gmail.com",
            extra=(("access_type", "offline"), ("prompt", "consent")),
        ),
        "microsoft": Provider(
            name="microsoft",
            authorize_url=f"{_MICROSOFT}/authorize",
            token_url=f"{_MICROSOFT}/token",
            device_url=f"{_MICROSOFT}/devicecode",
            scope=f"{_OUTLOOK}IMAP.AccessAsUser.All {_OUTLOOK}SMTP.Send offline_access",
            imap_host="outlook.office365.com",
            smtp_host="smtp.office365.com",
        ),
    }
)
