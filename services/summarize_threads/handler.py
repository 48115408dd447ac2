"""Takes the summary from a reflection, and holds its limit."""

from __future__ import annotations

from schemas.events.memory import ThreadSummarized, TurnReflected
from schemas.summary_limit import Names, limited
from schemas.words import count_words
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.summarize_threads.apply import SQL


async def on_reflected(work: Work[TurnReflected]) -> None:
    """The author's new summary, with the numbers and names of the one that stands. One that covers less is ignored."""
    event = work.event
    if not event.summary.strip():
        return
    async with work.unit() as unit:
        await unit.lock("summary", event.thread_id)
        of = {"thread_id": event.thread_id, "participant_id": event.participant_id, "trusted": event.trusted}
        row = await unit.one(SQL.current, **of)
        if row is None or row["covers_to"] <= event.covers_to:
            names = await _known_names(unit, event)
            most = work.app.settings.learning.summary_words
            text = limited(event.summary, most, row["text"] if row else "", names)
            await unit.record(
                ThreadSummarized(
                    **of,
                    text=text,
                    words=count_words(text),
                    covers_to=event.covers_to,
                    turn_id=event.turn_id,
                )
            )


async def _known_names(unit: Unit, event: TurnReflected) -> Names:
    """The customer's name, and what is remembered as their identity; nothing where it may not be they who wrote."""
    if not event.trusted:
        return Names()
    row = await unit.one(SQL.known_names, workspace=unit.workspace, participant_id=event.participant_id)
    return Names(row["name"], tuple(row["things"])) if row else Names()


HANDLERS: Handlers = {TurnReflected: on_reflected}
