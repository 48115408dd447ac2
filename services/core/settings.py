"""Settings: one frozen object, read once, passed down.

Read from the environment (`CORRESPONDENT_KAFKA__BROKERS=...`, two underscores between levels), then from
`correspondent.toml`, then from defaults that fit the embedded stack. What is missing or wrong is said with
its name, the reason and how to mend it.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from services.core.bus.attempt import GRACE_S
from services.core.errors import Permanent
from services.core.model.settings import ModelSettings

CONFIG_FILE = "correspondent.toml"
TOOLS_S = 10.0  # what a handler may spend beside its question to the model, in one attempt


class SettingsWrong(Permanent):
    """A setting is missing or wrong."""


class Group(BaseModel):
    """A group of settings: frozen, and a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KafkaSettings(Group):
    """The log."""

    brokers: str = "127.0.0.1:9092"
    topic_prefix: str = Field("", description="put before each topic and group, so that several can share a broker")
    replication: int = 1
    embedded: bool = Field(False, description="the broker is the embedded one: no idempotent producer, forgets")
    rebalance_timeout_s: float = Field(90, gt=0, description="how long a rebalance waits for what is being handled")


class SmtpSettings(Group):
    """Where replies are handed over."""

    host: str = "127.0.0.1"
    port: int = 25
    username: str = ""
    password: SecretStr = SecretStr("")
    tls: Literal["none", "starttls", "implicit"] = "none"
    timeout_s: float = 30
    helo: str = Field("", description="the name we greet with; by default the host's own")


class OAuthSettings(Group):
    """How an access token for XOAUTH2 is got: the refresh token grant of RFC 6749, section 6."""

    token_url: str
    client_id: str
    client_secret: SecretStr = SecretStr("")
    refresh_token: SecretStr
    scope: str = ""


class ImapSettings(Group):
    """Where an inbox is read, with a password or with OAuth."""

    host: str
    port: int = 993
    username: str
    password: SecretStr = SecretStr("")
    oauth: OAuthSettings | None = None
    tls: Literal["none", "implicit"] = "implicit"
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


class MemorySettings(Group):
    """What is learned from a mailbox. Entries are put over the standard tables of services/learn_facts/policy.py."""

    instructions: str = Field("", description="said to the model that extracts facts, in place of the standing words")
    kinds: dict[str, str] = Field({}, description="kinds of your own: name = what belongs there")
    examples: tuple[str, ...] = Field((), description="what a good fact of this mailbox looks like, one line each")
    values: dict[str, Literal["single", "multi", "append"]] = Field(
        {}, description="by key, or by kind: one value, several side by side, or each an occurrence"
    )
    reserved: tuple[str, ...] = Field((), description="further keys that no customer may set, such as 'loyalty_level'")
    floors: dict[str, float] = Field({}, description="by kind: the least importance, 0 to 1")
    store_from: float = Field(0.3, ge=0, le=1, description="importance below which nothing is stored")


class InboxSettings(Group):
    """One mailbox that the agent answers for."""

    name: str
    address: str
    display_name: str = "Support"
    persona: str = Field("", description="what the agent is and how it writes, for this mailbox")
    imap: ImapSettings | None = None
    smtp: SmtpSettings | None = Field(None, description="where this inbox's replies are handed over, if elsewhere")
    dkim: DkimSettings | None = None
    replies_per_hour: int = Field(0, ge=0, description="more wait for their turn; 0: no limit of ours")
    paused: bool = Field(False, description="nothing is read, its webhook says 503; where it stood is kept")
    vouched_by: str = Field("", description="trial only: this operator vouches for every sender of this inbox")
    memory: MemorySettings = MemorySettings()


class ThreadSettings(Group):
    """The life of a thread."""

    quiet_s: float = Field(20, description="how long after a mail we wait for another before a turn opens")
    auto_resolve_days: float = 7
    auto_close_days: float = 14
    reopen_days: float = Field(90, description="a mail that comes longer after closing opens a new, linked thread")
    max_auto_replies: int = Field(10, description="automatic replies in a thread without a human in between")


class ContextSettings(Group):
    """What the model is shown. Budgets are in tokens."""

    recent_messages: int = 12
    recent_tokens: int = 3000
    facts_tokens: int = 1200
    knowledge_tokens: int = 1500
    knowledge_chunks: int = 6
    layer_tokens: int = 700
    retention_days: float = Field(30, description="older conversation rows leave the prompt; the summary carries on")
    tool_rounds: int = 6


class SendSettings(Group):
    """How replies leave."""

    approval: Literal["auto", "review"] = Field("auto", description="review: a person approves every reply")
    retry_days: float = 5
    allowed_links: tuple[str, ...] = Field((), description="hosts that replies may link to")
    disclose_ai: bool = Field(True, description="say that the writer is an AI and how to reach a person")


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


class WebhookSettings(Group):
    """What each provider's requests are verified with; a format without its secret refuses every request."""

    cloudflare_secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret shared with the worker")
    mailgun_signing_key: SecretStr = Field(SecretStr(""), description="HTTP webhook signing key")
    postmark_username: str = "postmark"
    postmark_password: SecretStr = Field(
        SecretStr(""), description="as in https://USERNAME:PASSWORD@host/inbound/postmark"
    )
    sendgrid_public_key: str = Field("", description="base64 public key of the parse webhook's security policy")
    ses_topic_arns: tuple[str, ...] = Field((), description="the SNS topics we listen to, and subscribe to")


class WebSettings(Group):
    """The HTTP edge: webhooks and API."""

    host: str = "127.0.0.1"
    port: int = 8025
    webhook_secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret; without it POST is refused")
    api_token: SecretStr = Field(SecretStr(""), description="bearer token of the API; without it that is off")
    webhooks: WebhookSettings = WebhookSettings()
    max_body_mb: int = 25


class EmbeddingSettings(Group):
    """Which model turns text into vectors; by default the small local one."""

    url: str = Field("", description="an OpenAI-compatible endpoint; empty: the local model")
    model: str = ""
    api_key: SecretStr = SecretStr("")
    dimensions: int = 384


class Settings(BaseSettings):
    """Everything an operator can say."""

    model_config = SettingsConfigDict(
        env_prefix="CORRESPONDENT_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        nested_model_default_partial_update=True,
    )

    workspace: str = "main"
    home: Path = Field(Path("var"), description="where blobs and the embedded stack keep their files")
    database_url: str = "postgresql://postgres@127.0.0.1:5432/correspondent"
    redis_url: str = "redis://127.0.0.1:6379/0"
    secret: SecretStr = Field(SecretStr(""), description="makes reply tokens; made on first start, kept below home")
    own_authserv_ids: tuple[str, ...] = Field((), description="whose Authentication-Results we believe: our own MX")
    trusted_sealers: tuple[str, ...] = Field((), description="forwarders' domains whose ARC seals we believe")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    pool_size: int = 16
    kafka: KafkaSettings = KafkaSettings()
    smtp: SmtpSettings = SmtpSettings()
    model: ModelSettings = ModelSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    threads: ThreadSettings = ThreadSettings()
    context: ContextSettings = ContextSettings()
    send: SendSettings = SendSettings()
    lanes: LaneSettings = LaneSettings()
    web: WebSettings = WebSettings()
    inboxes: tuple[InboxSettings, ...] = ()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the file."""
        toml = TomlConfigSettingsSource(settings_cls, os.environ.get("CORRESPONDENT_CONFIG", CONFIG_FILE))
        return init_settings, env_settings, toml

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        needed, longest = self.model.budget_s + TOOLS_S, self.lanes.timeout_s + GRACE_S
        if self.lanes.timeout_s < needed:
            raise ValueError(
                f"lanes.timeout_s is {self.lanes.timeout_s:g}, but a question to the model may take model.budget_s = "
                f"{self.model.budget_s:g} s, and tools {TOOLS_S:g} s: set lanes.timeout_s to {needed:g} or more"
            )
        if longest >= self.kafka.rebalance_timeout_s:
            raise ValueError(
                f"kafka.rebalance_timeout_s is {self.kafka.rebalance_timeout_s:g}, but an attempt may take "
                f"lanes.timeout_s and {GRACE_S:g} s to clean up: set it to more than {longest:g}"
            )
        return self

    @property
    def own_addresses(self) -> frozenset[str]:
        """Our inboxes' addresses, case-folded."""
        return frozenset(inbox.address.casefold() for inbox in self.inboxes)

    def inbox(self, name: str) -> InboxSettings:
        """The inbox with this name. Raises `SettingsWrong` where there is none."""
        for inbox in self.inboxes:
            if inbox.name == name:
                return inbox
        known = ", ".join(one.name for one in self.inboxes) or "none"
        raise SettingsWrong(
            f"there is no inbox named {name!r} (known: {known}); add an [[inboxes]] entry to {CONFIG_FILE}"
        )

    def smtp_of(self, inbox: str) -> SmtpSettings:
        """Where the replies of an inbox are handed over; one that is gone from the settings uses the house's."""
        return next((one.smtp for one in self.inboxes if one.name == inbox and one.smtp), self.smtp)

    @property
    def quiet(self) -> timedelta:
        """The quiet period of a thread."""
        return timedelta(seconds=self.threads.quiet_s)


def read_settings(**overrides: Any) -> Settings:
    """The settings in force. Raises `SettingsWrong`, one line a fault, each saying how to mend it."""
    key = os.environ.get("ANTHROPIC_API_KEY", "")
    if key and "model" not in overrides and "CORRESPONDENT_MODEL__API_KEY" not in os.environ:
        os.environ["CORRESPONDENT_MODEL__API_KEY"] = key
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsWrong("\n".join(_fault(one) for one in error.errors())) from None
    except ValueError as error:
        raise SettingsWrong(f"{CONFIG_FILE} or the environment cannot be read: {error}") from None


def _fault(error: Any) -> str:
    if not error["loc"]:
        return str(error["msg"]).removeprefix("Value error, ")
    name = ".".join(str(part) for part in error["loc"])
    variable = "CORRESPONDENT_" + "__".join(str(part) for part in error["loc"]).upper()
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such setting; look for a misspelling in {CONFIG_FILE} or the environment"
    return f"{name}: {error['msg']}; set {variable} or `{name}` in {CONFIG_FILE}"
