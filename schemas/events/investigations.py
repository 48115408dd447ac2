"""Investigations: a person has the agent work on a hard case, with a participant's memory as files.

All of it is one person's, under every address of theirs: their own mails, what was written to them, and what is
remembered of them. So it is sealed with their key alone, and goes with it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from schemas.events.base import Effect, EventData, Value
from schemas.events.replies import TokenUsage

Outcome = Literal["finished", "out_of_rounds", "out_of_tokens", "declined", "failed", "stopped", "refused"]
ProposalOp = Literal["add", "correct", "forget", "brief"]


class WorkFile(Value):
    """A file of the folder; without a text it is deleted."""

    path: str = Field(description="relative, of plain names: threads/2026-01-05-1a2b3c4d.md")
    text: str | None = None


class CallResult(Value):
    """What one call of a tool was answered with."""

    call_id: str
    content: str
    error: bool = False


class Proposed(Value):
    """What the investigation proposes to change in memory; a person accepts or rejects it."""

    proposal_id: UUID
    op: ProposalOp
    fact_id: UUID | None = Field(None, description="the fact that is corrected or forgotten")
    kind: str = ""
    key: str = ""
    value: str = ""
    text: str = Field("", description="the fact as a sentence; of a brief its whole text")
    quote: str = Field("", description="the customer's words that it rests on, as they stand in the mail")
    mail_id: UUID | None = Field(None, description="the mail in which they stand")
    base: str = Field("", description="of a brief: the version that was read, by hash")


class InvestigationEvent(EventData):
    """An event of a participant's investigations, which share one version."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "investigations"
    AGGREGATE: ClassVar[str] = "investigations"
    OF_PERSON: ClassVar[bool] = True

    investigation_id: UUID
    participant_id: UUID

    def aggregate_id(self) -> UUID:
        """The participant whose investigations they are."""
        return self.participant_id

    def shared_in(self) -> UUID | None:
        """Nobody: the folder holds the participant's own mails and what was written to them."""
        return None


class InvestigationRequested(EventData):
    """A person has a hard case investigated; investigate opens it or refuses."""

    TYPE: ClassVar[str] = "investigation.requested.v1"
    TOPIC: ClassVar[str] = "investigations"
    WORDS: ClassVar[frozenset[str]] = frozenset({"question"})

    investigation_id: UUID
    participant_id: UUID
    thread_id: UUID
    question: str
    by: str

    def shared_in(self) -> UUID | None:
        """Nobody: a person of ours asks about the participant."""
        return None


class InvestigationOpened(InvestigationEvent):
    """The folder as the model finds it. What is done to it follows, round by round."""

    TYPE: ClassVar[str] = "investigation.opened.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"question", "files"})

    thread_id: UUID
    inbox: str
    question: str
    by: str
    files: tuple[WorkFile, ...]
    mail_ids: tuple[UUID, ...] = Field((), description="mails of the participant in the folder, which may be quoted")
    fact_ids: tuple[UUID, ...] = Field((), description="facts in the folder, which may be corrected or forgotten")
    brief: str = Field("", description="the version of the brief in the folder, by hash; empty: there is none")


class RoundTaken(InvestigationEvent, Effect):
    """The model was asked once; its calls were answered, and what they wrote is in the folder."""

    TYPE: ClassVar[str] = "investigation.round_taken.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"answer", "results", "edits"})

    number: int = Field(description="from 1 in each investigation")
    answer: dict[str, Any] = Field(description="as the checkpoint holds it: text, calls, stop, model, usage")
    results: tuple[CallResult, ...] = ()
    edits: tuple[WorkFile, ...] = Field((), description="files that the calls wrote, whole")
    usage: TokenUsage = TokenUsage()


class InvestigationClosed(InvestigationEvent):
    """It is over, or was refused: a note for people, and what is proposed. Nothing of it is in memory yet."""

    TYPE: ClassVar[str] = "investigation.closed.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset(
        {"question", "note", "diff", "outputs", "kept", "conflicts", "dropped", "proposals"}
    )

    thread_id: UUID
    outcome: Outcome
    question: str = ""
    by: str = ""
    reason: str = Field("", description="why it ended where the model did not end it itself")
    note: str = ""
    diff: str = Field("", description="what the model changed in the folder, as a unified diff")
    outputs: tuple[WorkFile, ...] = Field((), description="what it wrote below outputs/")
    kept: tuple[WorkFile, ...] = Field((), description="what the person's next investigation finds again, merged")
    conflicts: tuple[str, ...] = Field((), description="files of those in which both versions stand, to be settled")
    proposals: tuple[Proposed, ...] = ()
    dropped: tuple[str, ...] = Field((), description="why a proposal of the model does not stand, one entry each")
    rounds: int = 0
    usage: TokenUsage = TokenUsage()


class InvestigationStopRequested(EventData):
    """A person stops an investigation; no further round is asked for."""

    TYPE: ClassVar[str] = "investigation.stop_requested.v1"
    TOPIC: ClassVar[str] = "investigations"

    investigation_id: UUID
    participant_id: UUID
    by: str


class ProposalDecisionRequested(EventData):
    """A person accepts or rejects what an investigation proposed; investigate passes it on."""

    TYPE: ClassVar[str] = "investigation.decision_requested.v1"
    TOPIC: ClassVar[str] = "investigations"

    investigation_id: UUID
    participant_id: UUID
    proposal_id: UUID
    accept: bool
    by: str


class ProposalDecided(InvestigationEvent):
    """A proposal was accepted, and asked for as that person's own change, or rejected."""

    TYPE: ClassVar[str] = "investigation.proposal_decided.v1"

    proposal_id: UUID
    accepted: bool
    by: str
    request_id: UUID | None = Field(None, description="the request of learn_facts that followed")


class InvestigationsRetentionDue(EventData):
    """What some investigations hold is older than it is to be kept; investigate decides what goes."""

    TYPE: ClassVar[str] = "investigation.retention_due.v1"
    TOPIC: ClassVar[str] = "investigations"
    SKELETON: ClassVar[frozenset[str]] = frozenset({"before", "due_at"})

    participant_id: UUID
    before: datetime
    due_at: datetime


class InvestigationsExpired(EventData):
    """The words of some investigations are kept no longer."""

    TYPE: ClassVar[str] = "investigation.expired.v1"
    TOPIC: ClassVar[str] = "investigations"
    AGGREGATE: ClassVar[str] = "investigations"

    participant_id: UUID
    investigation_ids: tuple[UUID, ...]

    def aggregate_id(self) -> UUID:
        """The participant whose investigations they were."""
        return self.participant_id
