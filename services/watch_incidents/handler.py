"""A trouble is reported once a mail, under its inbox's lock; then it is decided whether it is an incident.

A report whose trouble cannot be embedded waits with its event, as any that needs a service that is away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from uuid import uuid5

from schemas.events.incidents import IncidentRequested, TroubleReported
from schemas.events.memory import TurnReflected
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import Connection, fetch_all, row_as, rows_as
from services.core.ids import incident_board_id
from services.core.settings import IncidentSettings
from services.memory.embedding_cache import embed_cached, vectors_of_texts
from services.memory.embeddings import Embedder, Vector
from services.memory.troubles import Report, report_of
from services.watch_incidents.alike import names_in
from services.watch_incidents.apply import SQL
from services.watch_incidents.board import Board, Incident, ReportingMail
from services.watch_incidents.decide import reported, requested

KIND = "incident_board"
MOST_LOOSE, MOST_INCIDENTS = 200, 20
LONGEST = 200  # characters of a trouble


async def on_turn_reflected(work: Work[TurnReflected]) -> None:
    """A mail of a proven customer reports a trouble: noted, and compared with what others report."""
    turn, settings = work.event, work.app.settings.incidents_of(work.event.inbox)
    if not settings.customers or turn.again or not turn.trusted or turn.participant_id is None:
        return
    trouble = " ".join(turn.signals.issue_key.replace("_", " ").split())[:LONGEST]
    if not trouble or turn.signals.issue_resolved:
        return
    written = {"mail_ids": list(turn.mail_ids), "participant_id": turn.participant_id}
    async with work.reading() as conn:
        mail = await row_as(conn, ReportingMail, SQL.newest_mail, written)
    if mail is None:
        return
    new, report = _report(work, trouble, mail)
    async with work.reading() as conn:
        near = list(dict.fromkeys(one.trouble for one in (report, *await _all_near(conn, new, settings))))
    vectors = dict(zip(near, await vectors_of_texts(work.app.database, work.app.embedder, near), strict=True))
    async with work.unit() as unit:
        await unit.lock(KIND, new.board_id)
        if await unit.one(SQL.report, report_id=new.report_id):
            return
        board = await _board(unit.conn, new, settings)
        vectors |= await _vectors_of_new(unit.conn, work.app.embedder, _reports(board), vectors)

        def similarity(one: Report, other: Report) -> float:
            return float(vectors[one.trouble] @ vectors[other.trouble])

        for event in reported(new, report, board, similarity, settings):
            await unit.record(event)


async def on_requested(work: Work[IncidentRequested]) -> None:
    """A person closes or reopens an incident."""
    asked = work.event
    async with work.unit() as unit:
        await unit.lock(KIND, asked.board_id)
        known = await unit.row_as(Incident, SQL.incident, board_id=asked.board_id, incident_id=asked.incident_id)
        if known is not None:
            [incident] = await _with_reports(unit.conn, [known])
            for event in requested(asked, incident):
                await unit.record(event)


def _report(work: Work[TurnReflected], trouble: str, mail: ReportingMail) -> tuple[TroubleReported, Report]:
    """What a mail reports, as an event and as a value. The same mail is the same report."""
    inbox = work.event.inbox
    new = TroubleReported(
        board_id=incident_board_id(work.workspace, inbox),
        inbox=inbox,
        report_id=uuid5(mail.mail_id, "trouble"),
        participant_id=mail.participant_id,
        thread_id=mail.thread_id,
        mail_id=mail.mail_id,
        trouble=trouble,
        names=names_in(trouble, mail.text),
        said_at=mail.received_at,
    )
    also = {"person": mail.person, "author_addr": mail.author_addr}
    return new, report_of({**new.model_dump(exclude={"board_id", "inbox"}), **also})


async def _board(conn: Connection, new: TroubleReported, settings: IncidentSettings) -> Board:
    span = timedelta(days=settings.days)
    args = {"board_id": new.board_id, "since": new.said_at - span, "until": new.said_at + span}
    loose = await fetch_all(conn, SQL.loose, {**args, "most": MOST_LOOSE})
    known = {"board_id": new.board_id, "closed_since": new.said_at - span, "most": MOST_INCIDENTS}
    incidents = await _with_reports(conn, await rows_as(conn, Incident, SQL.incidents, known))
    return Board(tuple(map(report_of, loose)), tuple(incidents))


async def _with_reports(conn: Connection, incidents: Sequence[Incident]) -> list[Incident]:
    found = await fetch_all(conn, SQL.reports_of, {"incidents": [one.incident_id for one in incidents]})
    by_incident = sorted(map(report_of, found), key=attrgetter("incident_id"))  # stable: each stays oldest first
    reports = {id: tuple(some) for id, some in groupby(by_incident, key=attrgetter("incident_id"))}
    return [replace(one, reports=reports.get(one.incident_id, ())) for one in incidents]


async def _all_near(conn: Connection, new: TroubleReported, settings: IncidentSettings) -> list[Report]:
    return _reports(await _board(conn, new, settings))


def _reports(board: Board) -> list[Report]:
    return [*board.loose, *(report for one in board.incidents for report in one.reports)]


async def _vectors_of_new(
    conn: Connection, embedder: Embedder, reports: Iterable[Report], known: Mapping[str, Vector]
) -> dict[str, Vector]:
    """A vector for each trouble that came meanwhile; whoever reported it had it embedded, so it is in the cache."""
    missing = list(dict.fromkeys(one.trouble for one in reports if one.trouble not in known))
    return dict(zip(missing, await embed_cached(conn, embedder, missing), strict=True)) if missing else {}


HANDLERS: Handlers = {TurnReflected: on_turn_reflected, IncidentRequested: on_requested}
