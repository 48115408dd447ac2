"""While a person has the thread: the agent is asked what it would answer, and that becomes a note."""

from __future__ import annotations

from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.events.mail import EmailRead
from schemas.events.suggestions import SuggestionAsked, SuggestionDrafted
from schemas.events.threads import AppliedBehaviour
from services.core.bus.work import Work
from services.track_threads import marks
from services.track_threads.decide_replies import acts
from services.track_threads.keeping import record
from services.track_threads.load import load

HEAD = "What the agent would answer:"


def suggestion(mail: EmailRead, cause: UUID, behaviours: tuple[AppliedBehaviour, ...] = ()) -> SuggestionAsked:
    """The question, with the operator's rules that hold for the mail; no turn opens for it."""
    return SuggestionAsked(
        turn_id=uuid5(cause, "suggestion"),
        thread_id=mail.thread_id,
        participant_id=mail.participant_id,
        inbox=mail.inbox,
        mail_ids=(mail.mail_id,),
        trusted=mail.identity.trusted,
        behaviours=behaviours,
    )


async def on_suggestion(work: Work[SuggestionDrafted]) -> None:
    """What the agent looked up for it, and, while a person still has the thread, the answer as a note."""
    event = work.event
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        found: list[EventData] = [*acts(thread, event)]
        if thread.state == "escalated" and event.text:
            found.append(marks.note(thread, f"{HEAD}\n\n{event.text}", "agent", "ai", event.turn_id))
        await record(unit, thread, found, work.app.settings)
