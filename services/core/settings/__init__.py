"""Settings: one frozen object, read once, passed down.

Read from the environment (`CORRESPONDENT_KAFKA__BROKERS=...`, two underscores between levels), then from
`correspondent.toml`, then from defaults that fit the embedded stack. What is missing or wrong is said with
its name, the reason and how to fix it.
"""

from services.core.settings.cascade import Chosen, context_of, says, shaped
from services.core.settings.deployment import Settings, read_settings
from services.core.settings.group import CONFIG_FILE, Group, SettingsWrong
from services.core.settings.inbox import (
    DkimSettings,
    ImapSettings,
    InboxSettings,
    OAuthSettings,
    SmtpSettings,
    SpamSettings,
)
from services.core.settings.kafka import TOOLS_S, KafkaOAuth, KafkaSettings, LaneSettings
from services.core.settings.memory import (
    CondenseSettings,
    ConfidenceSettings,
    EmbeddingSettings,
    GrainSettings,
    InvestigateSettings,
    KnowledgeSettings,
    LearningSettings,
    MemorySettings,
    PeopleSettings,
    RecallSettings,
    SessionSettings,
)
from services.core.settings.oversight import (
    AlertSettings,
    AlertTarget,
    ApprovalSettings,
    IncidentSettings,
    IntentLevel,
    LimitSettings,
    OfficeHours,
    ServiceLevel,
    ServiceLevels,
)
from services.core.settings.replies import (
    ContextSettings,
    ParticipantSettings,
    PersonalShaping,
    SendSettings,
    Shaping,
    ThreadSettings,
)
from services.core.settings.rules import Behaviour, OutreachRule, OutreachSettings, Then, When, in_force
from services.core.settings.storage import ArchiveSettings, BlobSettings, PeriodRetention, RetentionSettings, S3Access
from services.core.settings.web import (
    ConsoleSettings,
    OidcSettings,
    OutgoingWebhookSettings,
    WebhookSettings,
    WebSettings,
)

__all__ = [
    "CONFIG_FILE",
    "TOOLS_S",
    "AlertSettings",
    "AlertTarget",
    "ApprovalSettings",
    "ArchiveSettings",
    "Behaviour",
    "BlobSettings",
    "Chosen",
    "CondenseSettings",
    "ConfidenceSettings",
    "ConsoleSettings",
    "ContextSettings",
    "DkimSettings",
    "EmbeddingSettings",
    "GrainSettings",
    "Group",
    "ImapSettings",
    "InboxSettings",
    "IncidentSettings",
    "IntentLevel",
    "InvestigateSettings",
    "KafkaOAuth",
    "KafkaSettings",
    "KnowledgeSettings",
    "LaneSettings",
    "LearningSettings",
    "LimitSettings",
    "MemorySettings",
    "OAuthSettings",
    "OfficeHours",
    "OidcSettings",
    "OutgoingWebhookSettings",
    "OutreachRule",
    "OutreachSettings",
    "ParticipantSettings",
    "PeopleSettings",
    "PeriodRetention",
    "PersonalShaping",
    "RecallSettings",
    "RetentionSettings",
    "S3Access",
    "SendSettings",
    "ServiceLevel",
    "ServiceLevels",
    "SessionSettings",
    "Settings",
    "SettingsWrong",
    "Shaping",
    "SmtpSettings",
    "SpamSettings",
    "Then",
    "ThreadSettings",
    "WebSettings",
    "WebhookSettings",
    "When",
    "context_of",
    "in_force",
    "read_settings",
    "says",
    "shaped",
]
