"""Which drafts wait for a person by their intent, and when approvals of an intent are earned."""

from __future__ import annotations

from pydantic import Field

from schemas.events.replies import ApprovalLevel
from schemas.model_output import Intent
from services.core.settings.group import Group

UNEARNABLE = frozenset({"", "other"})  # intents of drafts of which nobody says what they are alike in


class IntentLevel(Group):
    """The approval level of the drafts of one intent. What a participant or a behaviour is given counts before it."""

    intent: Intent
    level: ApprovalLevel
    inbox: str = Field("", description="the name of the inbox; empty: every one")


class ApprovalSettings(Group):
    """Approval by intent, and earned approval: drafts under `review` that need no person any more."""

    intents: tuple[IntentLevel, ...] = Field(
        (), description="the first entry that matches inbox and intent counts, before `approval` of inbox and workspace"
    )
    earn: bool = Field(
        False, description="drafts whose intent people approved unchanged often enough leave without a person"
    )
    bound: float = Field(
        0.8, gt=0, lt=1, description="lower bound (Wilson, 95 %) of approvals unchanged that opens an intent"
    )
    over: int = Field(40, ge=5, le=400, description="of the last so many decisions on drafts of the intent")
    senders: int = Field(
        3,
        ge=1,
        le=100,
        description="of at least so many senders; one organization is one, people at public providers are each",
    )
    score: float = Field(0.7, ge=0, le=1, description="least score of a draft that leaves because it was earned")
    hold_floors: bool = Field(
        False, description="drafts that break a floor (risky topic, unsupported claim) wait under `auto`, too"
    )
