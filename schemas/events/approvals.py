"""What people make of the agent's drafts, by inbox and intent, and the automatic approval that is earned by it.

Of a draft these events hold ids, its outcome and how much of it was changed: numbers, and no words of anybody.
"""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData, Impersonal, Value

Outcome = Literal["unchanged", "edited", "rejected", "answered_by_hand", "reopened", "held"]
CORRECTIONS: frozenset[Outcome] = frozenset({"edited", "rejected", "answered_by_hand", "reopened"})


class Count(Value):
    """So many of the last decisions approved the draft unchanged; `bound` is the lower one, Wilson, 95 %."""

    unchanged: int
    of: int
    bound: float
    threshold: float = Field(description="the bound that opens the intent, by the settings of that day")


class ApprovalEvent(Impersonal):
    """An event of one intent in one inbox."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "approvals"
    AGGREGATE: ClassVar[str] = "approval"

    approval_id: UUID
    inbox: str
    intent: str

    def aggregate_id(self) -> UUID:
        """The intent of the inbox."""
        return self.approval_id


class ApprovalCounted(ApprovalEvent):
    """What became of a draft: approved, changed or rejected, or what it settled came up again, or did not."""

    TYPE: ClassVar[str] = "approval.counted.v1"

    reply_id: UUID
    outcome: Outcome
    edited: float = Field(0, description="share of its words that the person changed, from 0 to 1")


class ApprovalOpened(ApprovalEvent):
    """From now on drafts of this intent leave without a person, where no floor and no low score holds them."""

    TYPE: ClassVar[str] = "approval.opened.v1"

    count: Count
    by: str = Field("", description="the person who opened it; empty: it was earned")
    reason: str = ""


class ApprovalClosed(ApprovalEvent):
    """From now on a person approves drafts of this intent again; what was counted before counts no more."""

    TYPE: ClassVar[str] = "approval.closed.v1"

    count: Count
    by: str = Field("", description="the person who closed it; empty: a draft was corrected")
    reason: str = ""


class ApprovalRequested(EventData):
    """A person opens or closes an intent; earn_approval decides whether that changes anything."""

    TYPE: ClassVar[str] = "approval.requested.v1"
    TOPIC: ClassVar[str] = "approvals"

    approval_id: UUID
    inbox: str
    intent: str
    open: bool
    by: str
    reason: str = ""
