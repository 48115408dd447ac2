"""Lets go of what was said in a thread long ago, where the settings keep bodies for a time only."""

from __future__ import annotations

from datetime import timedelta

from schemas.events.retention import BodiesExpired
from services.core.bus.unit import Unit
from services.core.settings import RetentionSettings
from services.track_threads.apply import SQL
from services.track_threads.thread import Thread


async def let_go(unit: Unit, thread: Thread, retention: RetentionSettings) -> None:
    """The texts from before the time that is kept, unless somebody is at work in the thread."""
    if not retention.bodies_days:
        return
    before = unit.now - timedelta(days=retention.bodies_days)
    row = await unit.one(SQL.due_bodies, thread_id=thread.thread_id, before=before)
    if row is not None and row["due"]:
        await unit.record(
            BodiesExpired(thread_id=thread.thread_id, participant_id=thread.participant_id, before=before)
        )
