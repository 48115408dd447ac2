"""Incidents as people see them, with who reported one and what became of each answer; closing and reopening one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.events.incidents import IncidentRequested
from services.core.app import App
from services.core.db import Connection, fetch_all, queries
from services.core.errors import Permanent
from services.core.ids import incident_answer_id, incident_board_id
from services.core.keys import is_sealed
from services.core.paging import MOST, Listing, Page
from services.core.settings import Settings
from services.memory.troubles import Report, customers, report_of, shared_words
from services.operations.requests import decision_on
from services.operations.threads.answers import LONGEST_REPLY

SQL = queries(__file__, "incidents.sql")
INCIDENTS = Listing("incidents", (("opened_at", "time"), ("incident_id", "id")), descending=True)


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A customer's report, and the draft of the answer to them: its state, or `refused` and why; "" for none."""

    thread_id: UUID
    said_at: datetime
    customer: str
    trouble: str
    answer: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class IncidentLine:
    """An incident. `words` are those that as many customers say as open one; `customers` are who report it by now."""

    incident_id: UUID
    inbox: str
    is_open: bool
    words: str
    customers: int
    reports: int
    since: datetime
    opened_at: datetime
    changed_at: datetime
    changed_by: str
    reason: str
    closed_at: datetime | None
    answer: str


@dataclass(frozen=True, slots=True)
class WholeIncident:
    """An incident with its reports, the oldest first."""

    incident: IncidentLine
    reported: list[ReportLine] = field(default_factory=list)


async def list_incidents(
    conn: Connection, settings: Settings, *, limit: int = MOST, after: str = ""
) -> Page[IncidentLine]:
    """The incidents, the newest first. Raises `BadCursor`."""
    args = {"workspace": settings.workspace, "incident_id": None} | INCIDENTS.args(after, limit)
    page = INCIDENTS.page(await fetch_all(conn, SQL.incidents, args), limit)
    reports = await _reports(conn, [row["incident_id"] for row in page])
    return Page([_line(row, reports[row["incident_id"]], settings) for row in page], page.next)


async def whole_incident(conn: Connection, settings: Settings, incident_id: UUID) -> WholeIncident | None:
    """One incident; None where there is none of this id."""
    args = {"workspace": settings.workspace, "incident_id": incident_id} | INCIDENTS.args("", 1)
    rows = await fetch_all(conn, SQL.incidents, args)
    if not rows:
        return None
    [row] = rows
    reports = (await _reports(conn, [incident_id]))[incident_id]
    answers = await _answers(conn, row, reports)
    return WholeIncident(_line(row, reports, settings), [_report(one, row, answers) for one in reports])


async def _reports(conn: Connection, incidents: Sequence[UUID]) -> Mapping[UUID | None, list[Report]]:
    found: dict[UUID | None, list[Report]] = defaultdict(list)
    for row in await fetch_all(conn, SQL.reports, {"incidents": list(incidents)}):
        found[row["incident_id"]].append(report_of(row))
    return found


async def _answers(conn: Connection, row: Mapping[str, Any], reports: Sequence[Report]) -> dict[UUID, tuple[str, str]]:
    """What became of each draft of the last answer, by its id."""
    ids = [_answer_id(row, one) for one in reports] if row["closings"] else []
    threads = [one.thread_id for one in reports]
    drafts = await fetch_all(conn, SQL.answers, {"replies": ids})
    refusals = await fetch_all(conn, SQL.refusals, {"typed": list(map(str, ids)), "threads": threads})
    became = {one["reply_id"]: (one["state"], one["detail"]) for one in drafts}
    refused = (one["data"] for one in refusals if not is_sealed(one["data"]))
    return became | {UUID(one["reply_id"]): ("refused", one["reason"]) for one in refused}


def _answer_id(row: Mapping[str, Any], report: Report) -> UUID:
    return incident_answer_id(row["incident_id"], row["closings"], report.person)


def _line(row: Mapping[str, Any], reports: Sequence[Report], settings: Settings) -> IncidentLine:
    least = settings.incidents_of(row["inbox"]).customers or 1
    told = {name: one for name, one in row.items() if name != "closings"}
    words = " ".join(shared_words(reports, least))
    return IncidentLine(**told, words=words, customers=len(customers(reports)), reports=len(reports))


def _report(one: Report, row: Mapping[str, Any], answers: Mapping[UUID, tuple[str, str]]) -> ReportLine:
    state, detail = answers.get(_answer_id(row, one), ("", ""))
    return ReportLine(one.thread_id, one.said_at, one.address, one.trouble, state, detail)


# A person closes or reopens an incident; watch_incidents decides whether that changes anything.
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
