"""A person asks for an investigation, stops it, accepts or rejects a proposal; investigate decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.investigations import (
    InvestigationRequested,
    InvestigationStopRequested,
    ProposalDecisionRequested,
)
from services.core.app import App
from services.core.clock import random_id
from services.core.db import fetch_one, row_as, rows_as
from services.core.errors import Permanent
from services.core.storable import is_storable
from services.mail.masking import mask
from services.operations.investigations.listing import SQL, WholeInvestigation, whole_investigation
from services.operations.memory.outcomes import Decided
from services.operations.memory.people import SQL as MEMORY
from services.operations.requests import decided, decision_on
from services.operations.threads.listing import ThreadUnknown

CONSUMER, LEARNS = "investigate", "learn_facts"
LONGEST_QUESTION = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an investigation proposes, and what became of it; `request_id` is what was asked of learn_facts."""

    proposal_id: UUID
    investigation_id: UUID
    participant_id: UUID
    state: str
    decided_at: datetime | None
    request_id: UUID | None


class InvestigationImpossible(Permanent):
    """It cannot be asked for so."""


class InvestigationUnknown(Permanent):
    """There is no such investigation."""


class ProposalUnknown(Permanent):
    """No investigation proposes that."""


class DecidedBefore(Permanent):
    """The proposal does not wait for a person any more."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a proposal; `refused` is why learn_facts did not do what was accepted."""

    proposal_id: UUID
    state: str
    refused: str = ""


async def investigate(app: App, thread_id: UUID, question: str, by: str, *, timeout_s: float) -> WholeInvestigation:
    """Ask for one; it goes on by itself. Raises `ThreadUnknown`, `InvestigationImpossible`, `NotDecidedYet`."""
    if not 0 < len(question.strip()) <= LONGEST_QUESTION or not is_storable(question):
        raise InvestigationImpossible(f"a question has 1 to {LONGEST_QUESTION:,} characters, none of them NUL")
    args = {"workspace": app.settings.workspace, "thread_id": thread_id}
    async with app.database.reading() as conn:
        if await fetch_one(conn, SQL.known_thread, args) is None:
            raise ThreadUnknown(f"there is no thread {thread_id}")
        whose = await fetch_one(conn, SQL.thread, args)
    if whose is None:
        raise InvestigationImpossible("nobody proven wrote in this thread: of whom nothing proves, nothing is known")
    asked = InvestigationRequested(
        investigation_id=random_id(),
        participant_id=whose["participant_id"],
        thread_id=thread_id,
        question=mask(question.strip()).text,
        by=by,
    )
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)
    whole = await found(app, asked.investigation_id)
    if whole.investigation.outcome == "refused":
        raise InvestigationImpossible(whole.reason)
    return whole


async def stop(app: App, investigation_id: UUID, by: str, *, timeout_s: float) -> WholeInvestigation:
    """Have it take no further round; how it stands then. Raises `InvestigationUnknown`, `NotDecidedYet`."""
    one = (await found(app, investigation_id)).investigation
    asked = InvestigationStopRequested(investigation_id=investigation_id, participant_id=one.participant_id, by=by)
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)
    return await found(app, investigation_id)


async def decide(app: App, proposal_id: UUID, by: str, *, accept: bool, timeout_s: float) -> Settled:
    """Accept or reject a proposal; what became of it. Raises `ProposalUnknown`, `DecidedBefore`, `NotDecidedYet`.

    What is accepted is asked of learn_facts as the person's own change, and may be refused there.
    """
    proposal = await _proposal(app, proposal_id)
    if proposal.state != "waiting":
        raise DecidedBefore(f"the proposal is {proposal.state} already")
    ids = {name: getattr(proposal, name) for name in ("investigation_id", "participant_id", "proposal_id")}
    await decision_on(app, ProposalDecisionRequested(**ids, accept=accept, by=by), CONSUMER, timeout_s=timeout_s)
    proposal = await _proposal(app, proposal_id)
    return Settled(proposal_id, proposal.state, await _refusal(app, proposal, timeout_s))


async def found(app: App, investigation_id: UUID) -> WholeInvestigation:
    """One investigation. Raises `InvestigationUnknown`."""
    async with app.database.reading() as conn:
        whole = await whole_investigation(conn, app.settings.workspace, investigation_id)
    if whole is None:
        raise InvestigationUnknown(f"there is no investigation {investigation_id}; `correspondent investigate list`")
    return whole


async def _proposal(app: App, proposal_id: UUID) -> Proposal:
    args = {"workspace": app.settings.workspace, "proposal_id": proposal_id}
    async with app.database.reading() as conn:
        proposal = await row_as(conn, Proposal, SQL.proposal, args)
    if proposal is None:
        raise ProposalUnknown(f"no investigation proposes {proposal_id}")
    return proposal


async def _refusal(app: App, proposal: Proposal, timeout_s: float) -> str:
    """Why learn_facts did not do what was accepted; "" where it did, or nothing was asked of it."""
    if proposal.request_id is None or proposal.decided_at is None:
        return ""
    await decided(app, proposal.request_id, proposal.decided_at, LEARNS, timeout_s=timeout_s)
    whose = {"workspace": app.settings.workspace, "participant_id": proposal.participant_id}
    async with app.database.reading() as conn:
        rows = await rows_as(conn, Decided, MEMORY.became, {**whose, "cause": proposal.request_id, "fact_id": None})
    return next((one.reason for one in rows if one.refused), "")
