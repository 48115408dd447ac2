"""A context layer by itself, as a turn would have it."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from schemas.events.replies import ContextLayer
from services.core.clock import random_id
from services.load_memory.handler import load_layers
from services.load_memory.turn import Turn
from services.memory.embeddings import Meaning
from tests.support.remembering import ADA, Memory, day


async def load_layer(layer: ModuleType, turn: Turn) -> ContextLayer:
    """One layer alone."""
    [loaded] = await load_layers([layer], turn)
    return loaded


def turn_of(memory: Memory, on: float, addr: str = ADA) -> Turn:
    """A turn of somebody's that opens on a day of the story, in a thread of its own."""
    return Turn(
        app=memory.app,
        workspace=memory.workspace,
        now=day(on),
        thread_id=random_id(),
        participant_id=memory.person(addr),
        inbox=memory.app.settings.inboxes[0],
        mails=(),
        meaning=Meaning("none", np.zeros(memory.app.embedder.dimensions, dtype=np.float32)),
    )
