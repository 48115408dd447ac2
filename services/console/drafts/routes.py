"""Drafts over HTTP: which wait, approve, reject."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from schemas.events.replies import DraftDecided
from services.console.bodies import Approval, DraftOutcome, Rejection
from services.console.drafts.deciding import decide
from services.console.drafts.reading import HeldDraft, held_draft, waiting_drafts
from services.core.house import House
from services.core.web import Refused

WAIT_S = 5.0  # how long a request waits for send_email's decision


def add_reads(router: APIRouter, house: House) -> None:
    """The reading half."""
    workspace = house.settings.workspace

    @router.get("/drafts")
    async def drafts(limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[HeldDraft]:
        """The drafts that wait for a person, the oldest first."""
        async with house.database.reading() as conn:
            return await waiting_drafts(conn, workspace, limit=limit)

    @router.get("/drafts/{reply_id}")
    async def draft(reply_id: UUID) -> HeldDraft:
        """One draft that waits."""
        return await _held(house, reply_id)


def add_wishes(router: APIRouter, house: House) -> None:
    """The deciding half: 200 with what became of it, 409 where the word had no effect."""

    @router.post("/drafts/{reply_id}/approve")
    async def approve(reply_id: UUID, body: Approval) -> DraftOutcome:
        """Send a draft, as it is or in your own words; refused where it, or its thread, is not what you saw."""
        bound = body.model_dump(include={"text_sha256", "thread_version", "by"})
        return await _decide(house, reply_id, approve=True, text=body.text or "", **bound)

    @router.post("/drafts/{reply_id}/reject")
    async def reject(reply_id: UUID, body: Rejection) -> DraftOutcome:
        """Throw a draft away; its turn ends as rejected."""
        held = await _held(house, reply_id)
        bound = {"text_sha256": held.text_sha256, "thread_version": held.thread_version}
        return await _decide(house, reply_id, approve=False, **bound, **body.model_dump())


async def _decide(house: House, reply_id: UUID, **word: Any) -> DraftOutcome:
    held = await _held(house, reply_id)
    said = DraftDecided.model_validate({"reply_id": reply_id, "thread_id": held.thread_id, **word})
    became = await decide(house, said, timeout_s=WAIT_S)
    if became.state == "draft":
        raise Refused(409, "draft_changed", "the draft or its thread is not what you saw: look again, and decide again")
    return DraftOutcome(reply_id=reply_id, state=became.state, detail=became.detail)


async def _held(house: House, reply_id: UUID) -> HeldDraft:
    async with house.database.reading() as conn:
        held = await held_draft(conn, house.settings.workspace, reply_id)
    if held is None:
        raise Refused(404, "draft_unknown", "no draft with this id waits for a person")
    return held
