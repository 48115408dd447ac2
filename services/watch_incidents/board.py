"""What watch_incidents knows of an inbox when it decides: reports and incidents, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.memory.troubles import Report

Similarity = Callable[[Report, Report], float]


@dataclass(frozen=True, slots=True)
class ReportingMail:
    """The mail in which a trouble is reported. `person` stands for all addresses of one person."""

    mail_id: UUID
    thread_id: UUID
    participant_id: UUID
    text: str
    author_addr: str
    received_at: datetime
    person: UUID


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident with its reports, oldest first. `closed_at` is when it was closed last, the `closings`th time, and
    `answer` what is told since then.
    """

    incident_id: UUID
    is_open: bool
    closed_at: datetime | None = None
    answer: str = ""
    closings: int = 0
    reports: tuple[Report, ...] = ()

    @property
    def since_closed(self) -> tuple[Report, ...]:
        """Those that came after it was closed."""
        return tuple(one for one in self.reports if self.closed_at and one.said_at > self.closed_at)


@dataclass(frozen=True, slots=True)
class Board:
    """The reports near in time that are of no incident, and the incidents that a new one may be of."""

    loose: tuple[Report, ...] = ()
    incidents: tuple[Incident, ...] = ()
