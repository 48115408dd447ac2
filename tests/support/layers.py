"""A context layer by itself, as a turn would have it."""

from __future__ import annotations

from types import ModuleType

from schemas.events.replies import ContextLayer
from services.load_memory.handler import load_layers
from services.load_memory.turn import Turn


async def load_layer(layer: ModuleType, turn: Turn) -> ContextLayer:
    """One layer alone."""
    [loaded] = await load_layers([layer], turn)
    return loaded
