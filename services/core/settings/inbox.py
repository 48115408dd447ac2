"""One mailbox that the agent answers for."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from services.core.settings.behaviours import Behaviour
from services.core.settings.forwarder import Forwarder
from services.core.settings.group import Group
from services.core.settings.incidents import IncidentSettings
from services.core.settings.layout import LayoutSettings
from services.core.settings.memory import MemorySettings
from services.core.settings.satisfaction import SatisfactionSettings
from services.core.settings.servers import DkimSettings, ImapSettings, SmtpSettings
from services.core.settings.service import OfficeHours, ServiceLevels
from services.core.settings.shaping import LONGEST_PERSONA, Shaping

LONGEST_FIXED_REPLY = 2_000  # characters

UNPROVEN_REPLY = """\
Hello,

we received a message that names this address as its sender. Nothing in it proves that it came from you, so we have not
acted on it, and no information was given out.

If you wrote to us, please write again, with your question, from an address whose provider signs its mail (most do), or
ask your provider about DKIM and DMARC. If you did not write to us, you need not do anything.

This is an automatic message. To reach a person, answer it with the word HUMAN."""


def _one_address(value: str) -> str:
    if not re.fullmatch(r"[^\s<>@,;\"]{1,64}@[^\s<>@,;\"]{1,255}", value):
        raise ValueError(f"{value!r} is not one plain address; write it as support@your-company.com")
    return value


class InboxSettings(Group):
    """One mailbox that the agent answers for."""

    name: str
    address: Annotated[str, AfterValidator(_one_address)]
    aliases: tuple[str, ...] = Field(
        (), description="other addresses whose mail comes here: what is sent to them is to us"
    )
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
    colleagues: tuple[str, ...] = Field(
        (),
        description="our own people, such as 'grace@shop.example' or '*@shop.example': a copy of their answer counts",
    )
    forwarders: tuple[Forwarder, ...] = Field(
        (), description="contact forms and their like: whom they name is answered as usual, and nothing is remembered"
    )
    unproven: Literal["template", "review", "human"] = Field(
        "template",
        description="who is not proven gets a fixed reply; or a draft that a person approves; or a person's answer",
    )
    unproven_reply: str = Field(
        UNPROVEN_REPLY,
        min_length=1,
        max_length=LONGEST_FIXED_REPLY,
        description="the fixed reply to who is not proven: all of it, whatever they wrote",
    )
    unproven_subject: str = Field(
        "Your message to us", min_length=1, max_length=100, description="its subject; theirs is not repeated"
    )
    memory: MemorySettings = MemorySettings()
    layout: LayoutSettings = Field(LayoutSettings(), description="signature, footer, quoting, copies")
    satisfaction: SatisfactionSettings = SatisfactionSettings()
    reply: Shaping = Field(Shaping(), description="what shapes this mailbox's replies, where that differs")
    behaviours: tuple[Behaviour, ...] = ()
    service_levels: ServiceLevels | None = Field(None, description="of this mailbox, in place of the workspace's")
    incidents: IncidentSettings | None = Field(None, description="of this mailbox, in place of the workspace's")
    office_hours: OfficeHours | None = Field(None, description="of this mailbox, in place of the workspace's")
