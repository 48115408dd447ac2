"""How the brokers of the log are reached: with TLS, with a login, or with OAuth."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from services.core.settings.group import Group

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]


class KafkaOAuth(Group):
    """Where an OAUTHBEARER token comes from: the client credentials grant of RFC 6749, or a file that others renew."""

    token_url: str = ""
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    scope: str = ""
    token_file: Path | None = Field(None, description="in place of token_url: a file with the token, read each time")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.token_url) == bool(self.token_file):
            raise ValueError("kafka.oauth needs one of token_url and token_file")
        if self.token_url and not self.client_id:
            raise ValueError("kafka.oauth: token_url needs a client_id")
        return self


class LogAccess(Group):
    """TLS and login of the brokers."""

    security_protocol: Protocol = Field("PLAINTEXT", description="SSL is TLS without a login, SASL_SSL TLS with one")
    ca_file: Path | None = Field(None, description="certificates (PEM) to believe, in place of the system's")
    cert_file: Path | None = Field(None, description="our own certificate (PEM), where the brokers ask for one")
    key_file: Path | None = Field(None, description="its private key, unless cert_file holds it")
    sasl_mechanism: Mechanism = "SCRAM-SHA-512"
    username: str = ""
    password: SecretStr = SecretStr("")
    oauth: KafkaOAuth | None = Field(None, description="for OAUTHBEARER, in place of username and password")

    @property
    def uses_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def logs_in(self) -> bool:
        """Whether the brokers ask who we are."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name in ("ca_file", "cert_file", "key_file"):
            if getattr(self, name) and not self.uses_tls:
                raise ValueError(f"kafka.{name} needs security_protocol SSL or SASL_SSL")
        if self.key_file and not self.cert_file:
            raise ValueError("kafka.key_file needs cert_file")
        for name in ("username", "password", "oauth"):
            if getattr(self, name) and not self.logs_in:
                raise ValueError(f"kafka.{name} needs security_protocol SASL_SSL (or SASL_PLAINTEXT)")
        if self.logs_in:
            self._check_login()
        return self

    def _check_login(self) -> None:
        if (self.sasl_mechanism == "OAUTHBEARER") != (self.oauth is not None):
            raise ValueError("kafka.sasl_mechanism OAUTHBEARER and [kafka.oauth] go together")
        if self.oauth is not None:
            return
        if not (self.username and self.password.get_secret_value()):
            raise ValueError(
                f"kafka.sasl_mechanism {self.sasl_mechanism} needs username and password (or password_file)"
            )
