"""Settings: one frozen object, read once, passed down.

Read from the environment (`CORRESPONDENT_KAFKA__BROKERS=...`, two underscores between levels), then from
`correspondent.toml`, then from defaults that fit the embedded stack. What is missing or wrong is said with
its name, the reason and how to fix it.
"""

from services.core.settings.alerts import AlertSettings, AlertTarget
from services.core.settings.approval import ApprovalSettings, IntentLevel
from services.core.settings.archive import ArchiveSettings
from services.core.settings.behaviours import Behaviour, Then, When, in_force
from services.core.settings.blobs import BlobSettings, S3Access
from services.core.settings.cascade import Chosen, context_of, says, shaped
from services.core.settings.condense import CondenseSettings
from services.core.settings.conduct import ContextSettings, SendSettings, ThreadSettings
from services.core.settings.console import ConsoleSettings, OidcSettings
from services.core.settings.deployment import Settings
from services.core.settings.group import CONFIG_FILE, Group, SettingsWrong
from services.core.settings.inbox import InboxSettings
from services.core.settings.incidents import IncidentSettings
from services.core.settings.investigate import InvestigateSettings
from services.core.settings.kafka import TOOLS_S, KafkaSettings, LaneSettings
from services.core.settings.kafka_access import KafkaOAuth
from services.core.settings.knowledge import KnowledgeSettings
from services.core.settings.learning import ConfidenceSettings, LearningSettings
from services.core.settings.limits import LimitSettings
from services.core.settings.memory import EmbeddingSettings, MemorySettings
from services.core.settings.outgoing_webhooks import OutgoingWebhookSettings
from services.core.settings.outreach import OutreachRule, OutreachSettings
from services.core.settings.people import PeopleSettings, SessionSettings
from services.core.settings.recall import GrainSettings, RecallSettings
from services.core.settings.retention import PeriodRetention, RetentionSettings
from services.core.settings.servers import DkimSettings, ImapSettings, OAuthSettings, SmtpSettings
from services.core.settings.service import OfficeHours, ServiceLevel, ServiceLevels
from services.core.settings.shaping import ParticipantSettings, PersonalShaping, Shaping
from services.core.settings.sources import read_settings
from services.core.settings.spam import SpamSettings
from services.core.settings.web import WebhookSettings, WebSettings

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
