"""What follows from a report, and from a person's word on an incident. Pure.

Invariants
- The order in which reports arrive changes nothing about whether an incident opens: every report that the new one is
  like is looked at as the middle of what is alike, so a trouble opens with the last report that completes it.
- A word of a customer is in their own report alone; a draft says what a person of ours wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid5

from schemas.events.alerts import PersonCalled
from schemas.events.base import EventData
from schemas.events.incidents import (
    IncidentClosed,
    IncidentOpened,
    IncidentReopened,
    IncidentRequested,
    TroubleReported,
)
from schemas.events.proactive import DraftRequested
from services.core.ids import incident_answer_id
from services.core.settings import IncidentSettings
from services.memory.troubles import Report, customers
from services.watch_incidents.alike import same_trouble
from services.watch_incidents.board import Board, Incident, Similarity

MOST_COMPARED = 50  # reports of an incident, the newest
ANSWERS = "an incident that they reported is over"


def reported(
    new: TroubleReported, report: Report, board: Board, similarity: Similarity, settings: IncidentSettings
) -> Iterator[EventData]:
    """A report: of an incident that is known, of a new one, or of none so far. `report` is the same as a value."""
    incident = _incident_of(report, board, similarity, settings)
    if incident:
        yield new.model_copy(update={"incident_id": incident.incident_id})
        joined = replace(incident, reports=(*incident.reports, report))
        yield from _joined(new, report, joined, settings)
        return
    yield new
    together = _together(report, board.loose, similarity, settings)
    if together:
        yield from _opened(new, together)


def _joined(
    new: TroubleReported, report: Report, incident: Incident, settings: IncidentSettings
) -> Iterator[EventData]:
    """What a report of a known incident brings about, where that was closed: an answer, or that it is not over."""
    if incident.is_open or incident.closed_at is None:
        return
    if report.said_at <= incident.closed_at:
        if incident.answer and _is_first(report, incident):
            yield answer_to(report, incident.incident_id, incident.closings, incident.answer)
        return
    again = len(customers(incident.since_closed))
    if again >= settings.customers:
        told = f"{again} customers report it again since it was closed"
        ids = {"board_id": new.board_id, "inbox": new.inbox, "incident_id": incident.incident_id}
        yield IncidentReopened(**ids, customers=again, reason=told)
        yield _call(new.inbox, incident.incident_id, told)


def _is_first(report: Report, incident: Incident) -> bool:
    """Whether the customer has reported it once only: then no answer went to them when it was closed."""
    return all(one is report or one.person != report.person for one in incident.reports)


def _opened(new: TroubleReported, together: Sequence[Report]) -> Iterator[EventData]:
    count, since = len(customers(together)), min(one.said_at for one in together)
    incident_id = uuid5(new.report_id, "incident")
    ids = tuple(sorted(one.report_id for one in together))
    said = {"board_id": new.board_id, "inbox": new.inbox, "incident_id": incident_id}
    yield IncidentOpened(**said, report_ids=ids, customers=count, since=since)
    yield _call(new.inbox, incident_id, f"{count} customers report the same issue since {since:%Y-%m-%d %H:%M} UTC")


def _call(inbox: str, incident_id: UUID, reason: str) -> PersonCalled:
    return PersonCalled(thread_id=incident_id, inbox=inbox, kind="incident", reason=reason)


def _incident_of(report: Report, board: Board, similarity: Similarity, settings: IncidentSettings) -> Incident | None:
    """The incident of which the report is: like at least half of its reports; of several the one it is like most."""

    def share(incident: Incident) -> float:
        newest = incident.reports[-MOST_COMPARED:]
        return sum(same_trouble(report, one, similarity, settings.alike_from) for one in newest) / (len(newest) or 1)

    best = max(((share(one), one.incident_id.int, one) for one in board.incidents), default=None)
    return best[2] if best and best[0] >= 0.5 else None


def _together(
    new: Report, loose: Sequence[Report], similarity: Similarity, settings: IncidentSettings
) -> Sequence[Report]:
    """The reports that open an incident with the new one: all like one of them, within the days; none where too few."""
    every = (new, *loose)
    best: Sequence[Report] = ()
    for middle in every:
        if middle is not new and not same_trouble(middle, new, similarity, settings.alike_from):
            continue
        like = [one for one in every if one is middle or same_trouble(middle, one, similarity, settings.alike_from)]
        best = max(best, _within(new, like, timedelta(days=settings.days)), key=_size)
    return best if settings.customers and len(customers(best)) >= settings.customers else ()


def _within(new: Report, reports: Sequence[Report], span: timedelta) -> Sequence[Report]:
    """Of all spans of days that hold the new report, the reports of the one with most customers."""
    starts = [one.said_at for one in reports if new.said_at - span <= one.said_at <= new.said_at]
    spans = [[one for one in reports if start <= one.said_at <= start + span] for start in starts]
    return max(spans, key=_size, default=[])


def _size(reports: Sequence[Report]) -> tuple[int, int]:
    return len(customers(reports)), len(reports)


def requested(asked: IncidentRequested, incident: Incident) -> Iterator[EventData]:
    """A person's word, unless it stands so already. Closed with an answer, each who reported it gets a draft of it."""
    if (asked.op == "close") != incident.is_open:
        return
    ids = asked.model_dump(include={"board_id", "inbox", "incident_id", "reason", "by"})
    if asked.op == "reopen":
        yield IncidentReopened.model_validate(ids)
        return
    closing = incident.closings + 1
    yield IncidentClosed(**ids, answer=asked.answer, closing=closing)
    if asked.answer:
        newest = {one.person: one for one in sorted(incident.reports, key=lambda one: one.said_at)}
        yield from (answer_to(one, incident.incident_id, closing, asked.answer) for one in newest.values())


def answer_to(report: Report, incident_id: UUID, closing: int, answer: str) -> DraftRequested:
    """A draft of the answer in the thread in which a customer reported it last; one a person and closing."""
    return DraftRequested(
        reply_id=incident_answer_id(incident_id, closing, report.person),
        thread_id=report.thread_id,
        participant_id=report.participant_id,
        text=answer,
        reason=ANSWERS,
    )
