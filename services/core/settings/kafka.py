"""The log, and how much of it a processor takes on at once."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from services.core.settings.group import Group

# How the brokers of the log are reached: with TLS, with a login, or with OAuth.
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


GRACE_S = 5.0  # how long cancelled work may take to clean up
TOOLS_S = 10.0  # what a handler may spend in addition to its question to the model, in one attempt


class KafkaSettings(LogAccess):
    """The log."""

    brokers: str = "127.0.0.1:9092"
    topic_prefix: str = Field("", description="put before each topic and group, so that several can share a broker")
    replication: int = 1
    embedded: bool = Field(False, description="the broker is the embedded one: no idempotent producer, forgets")
    session_timeout_s: float = Field(30, ge=6, description="after this silence a process counts as dead; embedded: 6")
    rebalance_timeout_s: float = Field(90, gt=0, description="how long a rebalance waits for what is being handled")


class LaneSettings(Group):
    """How much a processor takes on at once, and for how long.

    The figures hold each other: `timeout_s` has room for one question to the model (`model.budget_s`, 55 s) and
    `TOOLS_S` of tools and tables; `retry_s` bounds everything after the first attempt and has room for a whole question
    again, so a handler that timed out gets a retry, which its checkpoints let go on where it was; and one attempt,
    cancelled and cleaned up, ends before `kafka.rebalance_timeout_s`. Between attempts a rebalance waits for nobody.
    """

    running: int = Field(64, ge=1)
    admitted: int = Field(256, ge=1)
    timeout_s: float = Field(70, gt=0, description="for one attempt of a handler")
    retry_s: float = Field(60, ge=0, description="for all retries of a handler, with the pauses before them")
