"""Troubles that customers report, and incidents: the same trouble from several customers at once.

A report holds one customer's words and is theirs alone. What is decided about an incident holds ids and numbers, and in
the end what a person of ours wants said to those who reported it.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData


class BoardEvent(EventData):
    """An event of an inbox's board: the troubles reported there, and the incidents that they are."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "incidents"
    AGGREGATE: ClassVar[str] = "incident_board"

    board_id: UUID
    inbox: str

    def aggregate_id(self) -> UUID:
        """The board of the inbox."""
        return self.board_id


class TroubleReported(BoardEvent):
    """An authenticated customer reported a trouble in a mail; once a mail."""

    TYPE: ClassVar[str] = "trouble.reported.v1"

    report_id: UUID
    participant_id: UUID | None
    thread_id: UUID
    mail_id: UUID
    trouble: str = Field(description="a few words that name it, as the model made them of the mail")
    names: tuple[str, ...] = Field((), description="those of its words that the mail writes as names, folded")
    said_at: datetime = Field(description="when the mail came")
    incident_id: UUID | None = Field(None, description="the incident that it is a report of; None: of none so far")

    def shared_in(self) -> UUID | None:
        """The author's own mail alone."""
        return None


class IncidentEvent(BoardEvent):
    """An event of one incident."""

    TYPE: ClassVar[str] = ""

    incident_id: UUID


class IncidentOpened(IncidentEvent):
    """As many customers as the settings ask for report the same trouble."""

    TYPE: ClassVar[str] = "incident.opened.v1"

    report_ids: tuple[UUID, ...]
    customers: int
    since: datetime = Field(description="when the first of these reports came")


class IncidentClosed(IncidentEvent):
    """A person says that it is over; where there is an answer, each reporter gets a draft of it, for approval."""

    TYPE: ClassVar[str] = "incident.closed.v1"

    answer: str = Field("", description="the person's own words to those who reported it")
    closing: int = Field(1, description="how often it has been closed, this time included")
    reason: str = ""
    by: str


class IncidentReopened(IncidentEvent):
    """It is not over: a person says so, or as many customers as open one report it again."""

    TYPE: ClassVar[str] = "incident.reopened.v1"

    customers: int = Field(0, description="who reported it since it was closed; 0: a person says so")
    reason: str = ""
    by: str = Field("", description="the person; empty: new reports")


class IncidentRequested(EventData):
    """A person closes or reopens an incident; watch_incidents decides."""

    TYPE: ClassVar[str] = "incident.requested.v1"
    TOPIC: ClassVar[str] = "incidents"

    board_id: UUID
    inbox: str
    incident_id: UUID
    op: Literal["close", "reopen"]
    answer: str = ""
    reason: str = ""
    by: str
