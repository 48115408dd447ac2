"""A person closes or reopens an incident; watch_incidents decides whether that changes anything."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from schemas.events.incidents import IncidentRequested
from services.core.app import App
from services.core.errors import Permanent
from services.core.ids import incident_board_id
from services.operations.incidents.listing import WholeIncident, whole_incident
from services.operations.requests import decision_on
from services.operations.threads.limits import LONGEST_REPLY

CONSUMER = "watch_incidents"


class IncidentUnknown(Permanent):
    """There is no such incident."""


class AnswerRefused(Permanent):
    """The answer to those who reported it cannot be sent so."""


async def change(
    app: App, incident_id: UUID, op: Literal["close", "reopen"], *, answer: str, reason: str, by: str, timeout_s: float
) -> WholeIncident:
    """Close or reopen an incident; how it stands then. Raises `IncidentUnknown`, `AnswerRefused`, `NotDecidedYet`."""
    if len(answer) > LONGEST_REPLY or "\0" in answer:
        raise AnswerRefused(f"an answer has at most {LONGEST_REPLY:,} characters, none of them NUL")
    inbox = (await found(app, incident_id)).incident.inbox
    board = incident_board_id(app.settings.workspace, inbox)
    said = {"answer": answer.strip(), "reason": reason, "by": by}
    await decision_on(
        app,
        IncidentRequested(board_id=board, inbox=inbox, incident_id=incident_id, op=op, **said),
        CONSUMER,
        timeout_s=timeout_s,
    )
    return await found(app, incident_id)


async def found(app: App, incident_id: UUID) -> WholeIncident:
    """One incident. Raises `IncidentUnknown`."""
    async with app.database.reading() as conn:
        whole = await whole_incident(conn, app.settings, incident_id)
    if whole is None:
        raise IncidentUnknown(f"there is no incident {incident_id}; `correspondent incidents` shows them")
    return whole
