"""One mailbox that the agent answers for."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.behaviours import Behaviour
from services.core.settings.group import Group
from services.core.settings.memory import MemorySettings
from services.core.settings.servers import DkimSettings, ImapSettings, SmtpSettings
from services.core.settings.service import OfficeHours, ServiceLevels
from services.core.settings.shaping import LONGEST_PERSONA, Shaping


class InboxSettings(Group):
    """One mailbox that the agent answers for."""

    name: str
    address: str
    display_name: str = "Support"
    persona: str = Field(
        "", max_length=LONGEST_PERSONA, description="what the agent is and how it writes, for this mailbox; never cut"
    )
    imap: ImapSettings | None = None
    smtp: SmtpSettings | None = Field(None, description="where this inbox's replies are handed over, if elsewhere")
    dkim: DkimSettings | None = None
    replies_per_hour: int = Field(
        80, ge=0, description="more wait for their turn; 80 keep a day under 2,000; 0: no limit of ours"
    )
    paused: bool = Field(False, description="nothing is read, its webhook says 503; where it stood is kept")
    vouched_by: str = Field("", description="trial only: this operator vouches for every sender of this inbox")
    memory: MemorySettings = MemorySettings()
    reply: Shaping = Field(Shaping(), description="what shapes this mailbox's replies, where that differs")
    behaviours: tuple[Behaviour, ...] = ()
    service_levels: ServiceLevels | None = Field(None, description="of this mailbox, in place of the workspace's")
    office_hours: OfficeHours | None = Field(None, description="of this mailbox, in place of the workspace's")
