"""Who the agent is, for this inbox: the same for every mail of it."""

from __future__ import annotations

from services.core.db import Connection
from services.core.settings import ContextSettings
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "persona", True, True


def budget(settings: ContextSettings) -> None:
    """None: the system part is always kept whole; the settings bound what goes into it."""


async def load(turn: Turn, conn: Connection) -> Section:
    """The persona of the mailbox."""
    inbox = turn.inbox
    text = turn.chosen["persona"].value or (
        f"You answer the mail of {inbox.display_name} ({inbox.address}). You are friendly, exact and brief."
    )
    return section([entry(text, agent=inbox.display_name, company=inbox.display_name, signature=inbox.display_name)])
