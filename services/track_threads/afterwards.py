"""What behaviours do once a turn has been learned from: tags, priority, notes. Never a mail."""

from __future__ import annotations

from schemas.events.memory import TurnReflected
from services.core.bus.work import Work
from services.track_threads import marks
from services.track_threads.apply import SQL
from services.track_threads.behaviours import put_marks
from services.track_threads.keeping import record
from services.track_threads.load import load
from services.track_threads.occasions import after_turn


async def on_reflected(work: Work[TurnReflected]) -> None:
    """The operator's rules for afterwards; imported mail is left alone, and what is asked again is waited for."""
    event, settings = work.event, work.app.settings
    if event.retry_at:
        return
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        if not thread.exists or await unit.one(SQL.imported, mail_ids=list(event.mail_ids)):
            return
        intent = event.signals.intent if event.covers_to else ""
        rules = await after_turn(unit, thread, settings, event.mail_ids, event.outcome, intent)
        notes = [
            marks.note(thread, one.then.note, f"behaviour {one.name}", "system", unit.id_for(one.name))
            for one in rules
            if one.then.note
        ]
        await record(unit, thread, [*put_marks(thread, rules), *notes], settings)
