"""Mail that we begin: what a rule proposed to whom, what came of it, and who wants none."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData

OutreachState = Literal["proposed", "refused", "discarded", "failed", "sent", "answered", "bounced"]


class OutreachEvent(EventData):
    """An event of the workspace's book of outreach."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "outreach"
    AGGREGATE: ClassVar[str] = "outreach_book"

    book_id: UUID
    participant_id: UUID | None

    def aggregate_id(self) -> UUID:
        """The book of the workspace."""
        return self.book_id


class OutreachProposed(OutreachEvent):
    """A rule holds for somebody: a draft to them is wanted, for approval. The draft has the same id."""

    TYPE: ClassVar[str] = "outreach.proposed.v1"
    OF_PERSON: ClassVar[bool] = True

    outreach_id: UUID
    inbox: str
    thread_id: UUID
    turn_id: UUID
    rule: str
    reason: str

    def shared_in(self) -> UUID | None:
        """Of the participant alone."""
        return None


class OutreachChanged(OutreachEvent):
    """What came of it: refused or discarded before it left, sent, then answered or bounced."""

    TYPE: ClassVar[str] = "outreach.changed.v1"

    outreach_id: UUID
    state: OutreachState


class OutreachUnsubscribed(OutreachEvent):
    """Somebody wants no such mail any more, under any of their addresses; or, by a person of ours, wants it again."""

    TYPE: ClassVar[str] = "outreach.unsubscribed.v1"

    outreach_id: UUID | None = Field(None, description="the mail whose token was given back")
    how: Literal["mail", "link", "person"]
    lifted: bool = False
    by: str = ""


class OutreachDue(EventData):
    """The day's round of an inbox: whom its rules hold for now. A day that nobody asked for is not made up for."""

    TYPE: ClassVar[str] = "outreach.due.v1"
    TOPIC: ClassVar[str] = "outreach"

    book_id: UUID
    inbox: str
    due_at: datetime


class UnsubscribeRequested(EventData):
    """Somebody gave the token of a mail back over HTTP, or a person of ours says so for them; reach_out decides."""

    TYPE: ClassVar[str] = "outreach.unsubscribe_requested.v1"
    TOPIC: ClassVar[str] = "outreach"

    book_id: UUID
    participant_id: UUID | None = Field(None, description="who is meant, where a person of ours says so")
    outreach_id: UUID | None = Field(None, description="the mail whose token was given back")
    how: Literal["link", "person"]
    lifted: bool = False
    by: str = ""
