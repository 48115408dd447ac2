"""Who the agent is, for this inbox, and which facts are worth storing there: the same for every mail of it."""

from __future__ import annotations

from services.core.db import Connection
from services.core.settings import MemorySettings
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn
from services.memory.kinds import worth_storing

NAME, SHARED, TRUSTED = "persona", True, True
ABOUT = "Who you are, and what is worth storing."


def budget(turn: Turn) -> None:
    """None: the system part is always kept whole; the settings bound what goes into it."""


async def load(turn: Turn, conn: Connection) -> Section:
    """The persona of the inbox."""
    inbox = turn.inbox
    text = turn.chosen["persona"].value or (
        f"You answer the mail of {inbox.display_name} ({inbox.address}). You are friendly, exact and brief."
    )
    who = entry(text, agent=inbox.display_name, company=inbox.display_name, signature=inbox.display_name)
    return section([who, *(entry(told, storing=told) for told in _storing(inbox.memory))])


def _storing(memory: MemorySettings) -> list[str]:
    """What the extractor of this inbox is told of facts, for the tools that store them while the mail is read."""
    said = [f"When you store facts: {memory.instructions}"] if memory.instructions else []
    return [*said, *worth_storing(memory)]
