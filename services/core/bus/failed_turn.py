"""How a processor of a turn gives up: the turn has failed, and a human will be called."""

from __future__ import annotations

from schemas.events import EventData
from schemas.events.threads import TurnFailed
from services.core.bus.envelope import Envelope
from services.core.bus.processor import GiveUp


def failed_turn(processor: str) -> GiveUp:
    """A `give_up` that turns an event of a turn into `turn.failed`; other events go to the dead letters."""

    def give_up(envelope: Envelope, error: BaseException) -> EventData | None:
        turn_id, thread_id = getattr(envelope.data, "turn_id", None), getattr(envelope.data, "thread_id", None)
        if turn_id is None or thread_id is None:
            return None
        said = f"{type(error).__name__}: {error}"[:500]
        return TurnFailed(thread_id=thread_id, turn_id=turn_id, processor=processor, error=said)

    return give_up
