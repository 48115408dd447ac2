"""What a redrive of a dead letter would do, before it is done: its event handled in a sandbox, with the history of now.

Invariant: nothing outside the sandbox is written, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.events.mail import EmailRead, MailReceived
from services.core.app import open_keys
from services.core.archive.archive import archive_of
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, row_as
from services.core.errors import Permanent
from services.core.settings import Settings
from services.operations.dead_letters.dead_letter import DeadLetter
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.case import Case
from services.operations.replay.find import case_of_now
from services.operations.replay.model import Asking
from services.operations.replay.play import play
from services.operations.replay.result import judge
from services.operations.replay.run import see_archived
from services.operations.replay.sandbox import Sandbox, open_sandbox
from services.operations.replay.selection import STARTS, Selection
from services.operations.replay.steps import SQL, keys_concerned, past_steps
from services.operations.replay.tried import TriedCase


class CannotTry(Permanent):
    """What a redrive of this dead letter would do cannot be said beforehand."""


async def redriven(settings: Settings, dead_letter: DeadLetter, asking: Asking) -> TriedCase:
    """What its processor would record, or why it fails again. Raises `CannotTry`."""
    group, event = dead_letter.group, dead_letter.event
    if dead_letter.original is None or event is None:
        raise CannotTry(f"its record cannot be read: {dead_letter.unreadable or 'it does not hold it'}")
    if type(event.data) not in STARTS.get(group, ()):
        raise CannotTry(f"{group} cannot be replayed on {event.type}")
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        await see_archived(conn, archive_of(settings), settings.workspace, Selection(until=group, event=event.id))
        row = await row_as(conn, EventRow.of, SQL.event, {"id": event.id})
        if row is None or row.is_sealed:
            raise CannotTry(f"the event {event.id} is not stored, or cannot be read any more")
        if any(step.recorded for step in await past_steps(conn, row, (group,))):
            raise CannotTry("it was handled already: a redrive changes nothing")
        async with open_sandbox(settings, asking) as sandbox:
            case = await _case(conn, sandbox, row, group, documents=not asking.recorded)
            return TriedCase.of(case, judge(case, await play(sandbox, case)))


async def _case(conn: Connection, sandbox: Sandbox, row: EventRow, group: str, *, documents: bool) -> Case:
    """The event with all that its threads and people have now."""
    documents = documents or group == "load_memory"
    start = row.envelope()
    case = await case_of_now(conn, row, group, await _keys(conn, [start]), documents=documents)
    if not isinstance(start.data, MailReceived):
        return case
    first = await play(sandbox, case)  # bytes say of nobody whose they are: read once, the mail does
    return await case_of_now(conn, row, group, await _keys(conn, [start, *first.events]), documents=documents)


async def _keys(conn: Connection, events: Sequence[Envelope]) -> tuple[str, ...]:
    """The keys of the threads and people that events are about; of a mail those that it answers, too."""
    found: dict[str, None] = {}
    for event in events:
        threads = [getattr(event.data, "thread_id", None)]
        if isinstance(event.data, EmailRead):
            named = {"workspace": event.workspace, "ids": [*event.data.in_reply_to, *event.data.references]}
            threads += [one["thread_id"] for one in await fetch_all(conn, SQL.threads_of_ids, named)]
        for thread in threads:
            found |= dict.fromkeys(await keys_concerned(conn, thread, event.data.subject_id()))
    return tuple(found)
