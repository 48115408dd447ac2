"""A person's brief for people: what it says, what is to be merged into it, and requests to write or delete it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.memory import BriefDiverged, BriefRequested, BriefWritten
from services.core.app import App
from services.core.bus.event_row import EventRow
from services.core.db import fetch_all, rows_as
from services.mail.masking import mask
from services.memory.brief_version import version_of
from services.operations.memory.outcomes import Decided
from services.operations.memory.people import SQL
from services.operations.requests import decision_on

CONSUMER = "learn_facts"
LATEST = 10  # versions that are shown unless more are asked for


@dataclass(frozen=True, slots=True)
class PersonBrief:
    """A brief: its version (the hash of its text), who wrote it (empty: the agent), and from which versions."""

    version: str
    text: str
    by: str
    bases: list[str]
    written_at: datetime


async def briefs_of(app: App, participant_id: UUID) -> list[PersonBrief]:
    """The brief that holds, then those that are to be merged into it; none where there is none."""
    args = {"participant_id": participant_id}
    async with app.database.reading() as conn:
        return await rows_as(conn, PersonBrief, SQL.briefs, args)


async def earlier_briefs(app: App, participant_id: UUID, *, limit: int = LATEST) -> list[PersonBrief]:
    """The latest so many that were written and do not hold any more, newest first; a deletion has no text."""
    args = {"workspace": app.settings.workspace, "participant_id": participant_id, "limit": limit}
    shown = {one.version for one in await briefs_of(app, participant_id)}
    async with app.database.reading() as conn:
        rows = await rows_as(conn, EventRow.of, SQL.brief_events, args)
    found: dict[str, PersonBrief] = {}
    for envelope in (row.envelope() for row in rows if not row.is_sealed):
        data = envelope.data
        assert isinstance(data, BriefWritten | BriefDiverged)
        by = data.by if isinstance(data, BriefWritten) else ""
        one = PersonBrief(version_of(data.text), data.text, by, list(data.bases), envelope.time)
        found.setdefault(one.version, one)
    return [one for one in found.values() if one.version not in shown]


async def change_brief(app: App, request: BriefRequested, *, timeout_s: float = 20) -> Decided:
    """Ask for another brief, or for none; what became of it. Secrets in the text are masked. Raises `NotDecidedYet`."""
    masked = request.model_copy(update={"text": mask(request.text).text})
    cause = await decision_on(app, masked, CONSUMER, timeout_s=timeout_s)
    args = {"workspace": app.settings.workspace, "participant_id": request.participant_id, "cause": cause}
    async with app.database.reading() as conn:
        refused = await fetch_all(conn, SQL.became, {**args, "fact_id": None})
    if refused:
        return Decided(**refused[0])
    return Decided("written" if request.op == "edit" else "deleted", None, "", "", request.by)
