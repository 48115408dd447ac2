"""How a processor of a turn gives up: the turn has failed, and people will be alerted."""

from __future__ import annotations

from schemas.events.threads import TurnFailed
from services.core.bus.processor import GiveUp
from services.core.bus.unit import Unit
from services.core.storable import storable


def failed_turn(processor: str) -> GiveUp:
    """A `give_up` that turns an event of a turn into `turn.failed`; other events go to the dead letters."""

    async def give_up(unit: Unit, error: BaseException) -> bool:
        data = unit.cause.data
        turn_id, thread_id = getattr(data, "turn_id", None), getattr(data, "thread_id", None)
        if turn_id is None or thread_id is None:
            return False
        said = storable(f"{type(error).__name__}: {error}"[:500])
        await unit.record(TurnFailed(thread_id=thread_id, turn_id=turn_id, processor=processor, error=said))
        return True

    return give_up
