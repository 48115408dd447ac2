"""The one settings object: every group, where its values come from, and what has to fit together."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from services.core.error_words import named
from services.core.mailbox import MailboxKey
from services.core.secret_values import ERROR as SECRET_ERROR
from services.core.secret_values import HOLDS_SECRET, HoldsSecrets
from services.core.settings.group import CONFIG_FILE, PREFIX, ProviderKey, SecretFiles, SettingsWrong
from services.core.settings.inbox import InboxSettings, SmtpSettings, SpamSettings
from services.core.settings.kafka import GRACE_S, TOOLS_S, KafkaSettings, LaneSettings
from services.core.settings.memory import (
    DEFAULT_SPACE,
    CondenseSettings,
    EmbeddingSettings,
    InvestigateSettings,
    KnowledgeSettings,
    LearningSettings,
    PeopleSettings,
    RecallSettings,
    SessionSettings,
)
from services.core.settings.oversight import (
    THREAD,
    AlertSettings,
    ApprovalSettings,
    IncidentSettings,
    LimitSettings,
    OfficeHours,
    ServiceLevels,
)
from services.core.settings.replies import (
    CannedAnswer,
    ContextSettings,
    ParticipantSettings,
    SendSettings,
    ThreadSettings,
)
from services.core.settings.rules import Behaviour, OutreachSettings
from services.core.settings.storage import ArchiveSettings, BlobSettings, RetentionSettings
from services.core.settings.web import ConsoleSettings, MonitoringSettings, OutgoingWebhookSettings, WebSettings
from services.model.settings import ModelSettings

LEAST_SECRET_BYTES = 16


class Settings(HoldsSecrets, BaseSettings):
    """Everything an operator can say."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        nested_model_default_partial_update=True,
    )

    workspace: str = "main"
    home: Path = Field(Path("var"), description="where blobs and the embedded stack keep their files")
    database_url: Annotated[str, HOLDS_SECRET] = "postgresql://postgres@127.0.0.1:5432/correspondent"
    redis_url: Annotated[str, HOLDS_SECRET] = "redis://127.0.0.1:6379/0"
    secret: SecretStr = Field(SecretStr(""), description="makes reply tokens; made on first start, kept below home")
    former_secrets: tuple[Annotated[SecretStr, Field(min_length=LEAST_SECRET_BYTES)], ...] = Field(
        (), description="previous secrets: reply tokens made with them are still accepted, and no new ones are made"
    )
    master_keys: SecretStr = Field(
        SecretStr(""), description="wrap the keys of data subjects, newest first; made on first start, kept below home"
    )
    own_authserv_ids: tuple[str, ...] = Field((), description="whose Authentication-Results we believe: our own MX")
    stripping_authserv_ids: tuple[str, ...] = Field(
        (),
        description="of own_authserv_ids: servers that remove results which others wrote in their name, so that theirs "
        "count below their own Received line too, and in several headers (mx.google.com)",
    )
    trusted_sealers: tuple[str, ...] = Field((), description="forwarders' domains whose ARC seals we believe")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    pool_size: int = 16
    blobs: BlobSettings = BlobSettings()
    kafka: KafkaSettings = KafkaSettings()
    smtp: SmtpSettings = SmtpSettings()
    model: ModelSettings = ModelSettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    threads: ThreadSettings = ThreadSettings()
    limits: LimitSettings = LimitSettings()
    spam: SpamSettings = SpamSettings()
    context: ContextSettings = ContextSettings()
    learning: LearningSettings = LearningSettings()
    recall: RecallSettings = RecallSettings()
    condense: CondenseSettings = CondenseSettings()
    investigate: InvestigateSettings = InvestigateSettings()
    people: PeopleSettings = PeopleSettings()
    session: SessionSettings = SessionSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    send: SendSettings = SendSettings()
    approval: ApprovalSettings = ApprovalSettings()
    incidents: IncidentSettings = IncidentSettings()
    reach_out: OutreachSettings = OutreachSettings()
    lanes: LaneSettings = LaneSettings()
    web: WebSettings = WebSettings()
    console: ConsoleSettings = ConsoleSettings()
    archive: ArchiveSettings = ArchiveSettings()
    retention: RetentionSettings = RetentionSettings()
    alerts: AlertSettings = AlertSettings()
    outgoing_webhooks: OutgoingWebhookSettings = OutgoingWebhookSettings()
    monitoring: MonitoringSettings = MonitoringSettings()
    service_levels: ServiceLevels = ServiceLevels()
    office_hours: OfficeHours = OfficeHours()
    behaviours: tuple[Behaviour, ...] = ()
    participants: tuple[ParticipantSettings, ...] = ()
    canned_answers: tuple[CannedAnswer, ...] = ()
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
        """Arguments, then the environment, ours before the provider's, then the file."""
        toml = TomlConfigSettingsSource(settings_cls, os.environ.get("CORRESPONDENT_CONFIG", CONFIG_FILE))
        return init_settings, env_settings, SecretFiles(settings_cls), ProviderKey(settings_cls), toml

    @field_validator("secret")
    @classmethod
    def _secret_is_long(cls, secret: SecretStr) -> SecretStr:
        if 0 < len(secret.get_secret_value().encode()) < LEAST_SECRET_BYTES:
            raise ValueError(f"a secret needs at least {LEAST_SECRET_BYTES} bytes; without one it is generated")
        return secret

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

    @model_validator(mode="after")
    def _names_are_names(self) -> Self:
        for behaviours in (self.behaviours, *(inbox.behaviours for inbox in self.inboxes)):
            names = [one.name for one in behaviours]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"behaviours: {', '.join(twice)} is there twice in one list; give each its own name")
        return self

    @model_validator(mode="after")
    def _customers_can_answer(self) -> Self:
        asking = [one.name for one in self.inboxes if one.satisfaction.ask]
        if asking and not self.web.public_url:
            raise ValueError(f"inboxes.satisfaction.ask of {asking[0]}: set web.public_url, which the link begins with")
        return self

    @model_validator(mode="after")
    def _alerts_leave_the_app(self) -> Self:
        inbound = (self.web.webhook_secret, self.web.webhooks.cloudflare_secret)
        self.alerts.must_leave(self.own_addresses, {one.get_secret_value() for one in inbound})
        return self

    @property
    def own_addresses(self) -> frozenset[MailboxKey]:
        """Our inboxes' mailboxes, under all of their addresses."""
        named = ((inbox.address, *inbox.aliases) for inbox in self.inboxes)
        return frozenset(MailboxKey(address) for each in named for address in each)

    @property
    def thread_link(self) -> str:
        """Where a person opens a thread, with `{thread_id}` in it; "" where nobody said."""
        console = self.web.console_url.rstrip("/") if self.web.console else ""
        return self.alerts.link or (f"{console}/console/threads/{THREAD}" if console else "")

    def inbox(self, name: str) -> InboxSettings:
        """The inbox with this name. Raises `SettingsWrong` where there is none."""
        if inbox := self.known_inbox(name):
            return inbox
        known = ", ".join(one.name for one in self.inboxes) or "none"
        raise SettingsWrong(
            f"there is no inbox named {name!r} (known: {known}); add an [[inboxes]] entry to {CONFIG_FILE}"
        )

    def known_inbox(self, name: str) -> InboxSettings | None:
        """The inbox with this name; None for one that is gone from the settings."""
        return next((one for one in self.inboxes if one.name == name), None)

    def smtp_of(self, inbox: str) -> SmtpSettings:
        """Where the replies of an inbox are sent; one that is gone from the settings uses the deployment's."""
        known = self.known_inbox(inbox)
        return known.smtp if known and known.smtp else self.smtp

    def space_of(self, inbox: str) -> str:
        """The space that an inbox remembers in; the shared one for an inbox that is gone from the settings."""
        known = self.known_inbox(inbox)
        return known.memory.space if known else DEFAULT_SPACE

    @property
    def spaces(self) -> frozenset[str]:
        """The spaces of all inboxes, the shared one too."""
        return frozenset({DEFAULT_SPACE, *(inbox.memory.space for inbox in self.inboxes)})

    def hours_of(self, inbox: str) -> OfficeHours:
        """The office hours of an inbox."""
        known = self.known_inbox(inbox)
        return known.office_hours if known and known.office_hours else self.office_hours

    def incidents_of(self, inbox: str) -> IncidentSettings:
        """What opens an incident in an inbox."""
        known = self.known_inbox(inbox)
        return known.incidents if known and known.incidents else self.incidents

    @property
    def quiet(self) -> timedelta:
        """The quiet period of a thread."""
        return timedelta(seconds=self.threads.quiet_s)


# Reads the settings, and says each fault with its name, the reason and how to fix it.


def read_settings(**overrides: Any) -> Settings:
    """The settings in force. Raises `SettingsWrong`, one line a fault, each saying how to fix it."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsWrong("\n".join(_fault(one) for one in error.errors())) from None
    except ValueError as error:
        raise SettingsWrong(f"{CONFIG_FILE} or the environment cannot be read: {error}") from None


def _fault(error: Any) -> str:
    name, said = named(error)
    if error["type"] == SECRET_ERROR:
        return f"{name}.{said}" if name else said
    if not name or said.startswith(f"{name}."):  # a group's own check names its setting, and what to do
        return said
    variable = PREFIX + "__".join(str(part) for part in error["loc"]).upper()
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such setting; look for a misspelling in {CONFIG_FILE} or the environment"
    return f"{name}: {said}; set {variable} or `{name}` in {CONFIG_FILE}"
