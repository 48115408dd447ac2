"""The operator's rules that hold for this very turn, higher priority first: after what all mails of an inbox share."""

from __future__ import annotations

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "guidance", False, True
ABOUT = "Rules for this mail; where they differ from those above, these hold."


def budget(turn: Turn) -> None:
    """None: the system part is always kept whole; the settings bound what goes into it."""


async def load(turn: Turn, conn: Connection) -> Section:
    """What the behaviours say, each with its name."""
    return section(entry(f"- {one.say}", behaviour=one.name, rule=one.say) for one in turn.behaviours if one.say)
