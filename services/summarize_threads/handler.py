"""Takes the summary from a reflection, holds its limit, and drops the cached one."""

from __future__ import annotations

from schemas.events.memory import ThreadSummarized, TurnReflected
from schemas.model_output import SUMMARY_WORDS, clip_words
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.summarize_threads.apply import SQL


async def on_reflected(work: Work[TurnReflected]) -> None:
    """A summary that covers less than the one that stands is late, and ignored."""
    event = work.event
    text = clip_words(event.summary, SUMMARY_WORDS)
    if not text:
        return
    async with work.unit() as unit:
        await unit.lock("summary", event.thread_id)
        row = await unit.one(SQL.covers_to, thread_id=event.thread_id)
        if row is None or row["covers_to"] <= event.covers_to:
            await unit.record(
                ThreadSummarized(
                    thread_id=event.thread_id,
                    participant_id=event.participant_id,
                    text=text,
                    words=len(text.split()),
                    covers_to=event.covers_to,
                    turn_id=event.turn_id,
                )
            )
    await work.house.cache.drop(f"summary:{work.workspace}:{event.thread_id}")


HANDLERS: Handlers = {TurnReflected: on_reflected}
