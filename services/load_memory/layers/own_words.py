"""What a colleague wrote and wants worded better; empty unless somebody asked for that."""

from __future__ import annotations

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "own_words", False, False
ABOUT = "What your colleague wrote and wants worded better."


def budget(turn: Turn) -> None:
    """None: cut words would come back cut; whoever asks is held to a length."""


async def load(turn: Turn, conn: Connection) -> Section:
    """The words, fenced, as they may repeat a customer's, and not masked: our bank's number is to come back whole."""
    return section([entry(turn.own_words, text=turn.own_words)] if turn.own_words else [], published=True)
