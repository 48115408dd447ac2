"""Where an inbox's mail is read and where its replies are sent."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from services.core.settings.group import Group


class OAuthSettings(Group):
    """How an access token for XOAUTH2 is got: the refresh token grant of RFC 6749, section 6."""

    token_url: str
    client_id: str
    client_secret: SecretStr = SecretStr("")
    refresh_token: SecretStr = SecretStr("")
    refresh_token_file: str = Field(
        "", description="below home, sealed: `correspondent inbox login` writes it, and each renewal of the token"
    )
    scope: str = ""

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        if bool(self.refresh_token.get_secret_value()) == bool(self.refresh_token_file):
            raise ValueError(
                "oauth needs one of refresh_token and refresh_token_file; `correspondent inbox login` gets it"
            )
        return self


class SmtpSettings(Group):
    """Where replies are sent, without a login, with a password or with OAuth."""

    host: str = "127.0.0.1"
    port: int = 25
    username: str = ""
    password: SecretStr = SecretStr("")
    oauth: OAuthSettings | None = Field(None, description="XOAUTH2, in place of the password")
    tls: Literal["none", "starttls", "implicit"] = "none"
    ca_file: str = Field(
        "", description="certificates in PEM that are trusted here beside the system's: a CA of your own"
    )
    timeout_s: float = 30
    helo: str = Field("", description="the name we greet with; by default the host's own")

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if self.oauth and (self.password.get_secret_value() or not self.username):
            raise ValueError("with oauth a username is needed, and no password")
        return self


class ImapSettings(Group):
    """Where an inbox is read, with a password or with OAuth."""

    host: str
    port: int = 993
    username: str
    password: SecretStr = SecretStr("")
    oauth: OAuthSettings | None = None
    tls: Literal["none", "starttls", "implicit"] = "implicit"
    ca_file: str = Field("", description="as of [smtp]")
    folder: str = "INBOX"
    timeout_s: float = Field(60, description="how long the server may take over one answer")
    poll_s: float = Field(60, description="how often we look where the server has no IDLE")
    idle_s: float = Field(24 * 60, lt=29 * 60, description="IDLE is issued again after this long (RFC 2177)")
    sent_folder: str = Field("", description="where sent mail lies; by default the folder that the server marks as it")
    read_sent: bool = Field(True, description="a colleague's reply found in the Sent folder closes the turn")
    keep_sent: bool = Field(True, description="put a copy of each reply into the Sent folder, unless it is there")


class DkimSettings(Group):
    """What replies are signed with, where the SMTP server does not sign them (RFC 6376, RFC 8463)."""

    domain: str
    selector: str
    key_file: Path = Field(description="the private key: PEM for rsa, the base64 of the seed for ed25519")
    algorithm: Literal["rsa", "ed25519"] = "rsa"
