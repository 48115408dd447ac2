"""The turn that is learned from: one that has ended, or one whose reply is ready and has to wait.

A reply may wait for days: for a person, for the hour in which its inbox may send again, for a mail server. What the
customer said is learned when the waiting begins, and nothing is asked when the turn ends: the next reflection of the
thread covers what we answered, which is shown as it was sent until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from schemas.events.memory import TurnReflected
from schemas.events.replies import ReplyDeferred, ReplyHeld
from schemas.events.threads import TurnClosed, TurnOpened
from services.core.bus.event_row import EventRow
from services.core.db import Connection, queries, row_as

SQL = queries(__file__)
DRAFTED = "drafted"  # the outcome of a turn whose reply waits
Waiting = ReplyHeld | ReplyDeferred


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reflection is of."""

    turn_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    mail_ids: tuple[UUID, ...]
    trusted: bool
    outcome: str


def ended(event: TurnClosed) -> Turn:
    """A turn that has ended."""
    return _turn(event, event.outcome)


async def waiting(conn: Connection, event: Waiting, *, asked_again: bool = False) -> Turn | None:
    """The turn whose reply waits, where it is open and its author proven; None where it is not, or was asked about.

    `asked_again`: nothing usable came then.
    """
    args = {"turn_id": event.turn_id, "thread_id": event.thread_id, "asked_again": asked_again}
    row = await row_as(conn, EventRow.of, SQL.opened, args)
    opened = row.envelope().data if row else None
    return _turn(opened, DRAFTED) if isinstance(opened, TurnOpened) and opened.trusted else None


async def learned_early(conn: Connection, event: TurnClosed) -> TurnReflected | None:
    """What was learned from the turn while its reply waited; None where nothing was. Raises `Erased`."""
    args = {"thread_id": event.thread_id, "turn_id": event.turn_id}
    row = await row_as(conn, EventRow.of, SQL.reflected, args)
    found = row.envelope().data if row else None
    return found if isinstance(found, TurnReflected) and found.covers_to else None


def _turn(event: TurnOpened | TurnClosed, outcome: str) -> Turn:
    return Turn(
        turn_id=event.turn_id,
        thread_id=event.thread_id,
        participant_id=event.participant_id,
        inbox=event.inbox,
        mail_ids=event.mail_ids,
        trusted=event.trusted,
        outcome=outcome,
    )
