"""What becomes of a turn when the end that it was to have could not be recorded.

Invariant: what may have left is never failed, since a failed turn may be opened again and would then be answered twice.
That event, like one that opens no turn, stays a dead letter, and is handled when it is redriven.
"""

from __future__ import annotations

from schemas.events.base import EventData
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed
from services.core.bus.failed_turn import failed_turn
from services.core.bus.unit import Unit

_failed_turn = failed_turn("track_threads")


async def give_up(unit: Unit, error: BaseException) -> bool:
    """A turn whose draft goes nowhere has failed, and a human is called."""
    return _goes_nowhere(unit.cause.data) and await _failed_turn(unit, error)


def _goes_nowhere(data: EventData) -> bool:
    no_reply = isinstance(data, ReplyDrafted) and data.decision == "no_reply"
    return no_reply or isinstance(data, ReplyDiscarded | ReplyFailed)
