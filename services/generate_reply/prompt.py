"""The request that the conversation begins with. The system text is the same for every mail of every inbox."""

from __future__ import annotations

from schemas.events.replies import MemoryLoaded
from services.core.bus.checkpointed_model import as_layer
from services.generate_reply.instructions import REWORD, SUGGEST, SYSTEM, TASK
from services.generate_reply.tools import definitions
from services.model.port import Request
from services.model.prompt import make_fence


def opening(event: MemoryLoaded, event_id: str, secret: bytes) -> Request:
    """The first request of a turn, made from the event alone."""
    return Request(
        purpose="reply",
        system=SYSTEM,
        layers=tuple(as_layer(layer) for layer in event.layers),
        task=_task(event),
        tools=definitions(),
        fence=make_fence(secret, event_id),
        model=event.setting("model", ""),
        effort=event.setting("effort", ""),
    )


def _task(event: MemoryLoaded) -> str:
    if event.purpose == "reply":
        return TASK
    return REWORD if any(layer.name == "own_words" and layer.text for layer in event.layers) else SUGGEST
