"""Drafts over HTTP: which wait, approve, reject; how good they are, by intent and rule, and which need no person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from schemas.events.replies import DraftDecided
from services.core.app import App
from services.core.guarded_route import API_BODY_BYTES
from services.core.units import MB
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.drafts.decisions import FilesTooLarge, NewFile, WordsWanted, check_wording, decide, keep_files
from services.operations.drafts.listing import HeldDraft, held_draft, waiting_drafts
from services.operations.outreach import RuleLine, outreach_by_rule
from services.operations.patterns import Pattern, PatternUnknown, change, patterns
from services.operations.quality import MOST_WEEKS, Quality, quality
from services.operations.thumbs import Thumb, ThumbRefused, ThumbUnknown, give_thumb, take_thumb_back, thumbs_of
from services.web.bodies import Approval, DraftOutcome, NewThumb, PatternChange, Rejection
from services.web.named import ByQuery
from services.web.refusals import WAIT_S


def add_reads(router: APIRouter, app: App) -> None:
    """The reading half."""
    workspace = app.settings.workspace

    @router.get("/drafts")
    async def drafts(request: Request, response: Response, limit: Limit = 50, after: After = "") -> list[HeldDraft]:
        """The drafts that wait for a person, the oldest first."""
        async with app.database.reading() as conn:
            page = await waiting_drafts(conn, workspace, limit=limit, after=after)
        return linked(request, response, page)

    @router.get("/drafts/{reply_id}")
    async def draft(reply_id: UUID) -> HeldDraft:
        """One draft that waits."""
        return await _held(app, reply_id)


def most_bytes(app: App) -> int:
    """The largest body of an approval: the files that a reply may have, in base64, next to its text."""
    return API_BODY_BYTES + int(app.settings.send.max_files_mb * MB) * 4 // 3


def add_approval(router: APIRouter, app: App) -> None:
    """Approving, whose body may hold files: 200 with what became of it, 409 where the decision had no effect."""

    @router.post("/drafts/{reply_id}/approve")
    async def approve(reply_id: UUID, body: Approval) -> DraftOutcome:
        """Send a draft, as it is or in your own words; refused where it, or its thread, is not what you saw."""
        bound = body.model_dump(include={"text_sha256", "thread_version", "by"})
        files = [NewFile(one.filename, one.content) for one in body.files]
        return await decide_draft(app, reply_id, files, approve=True, text=body.text or "", **bound)


def add_rejection(router: APIRouter, app: App) -> None:
    """Rejecting."""

    @router.post("/drafts/{reply_id}/reject")
    async def reject(reply_id: UUID, body: Rejection) -> DraftOutcome:
        """Throw a draft away; its turn ends as rejected."""
        held = await _held(app, reply_id)
        bound = {"text_sha256": held.text_sha256, "thread_version": held.thread_version}
        return await decide_draft(app, reply_id, (), approve=False, **bound, **body.model_dump())


async def decide_draft(app: App, reply_id: UUID, files: Sequence[NewFile], **word: Any) -> DraftOutcome:
    """A person's word on the draft that they saw. Nothing of the files is stored where it is another one by now.

    Raises `RequestRefused`: 404 where it waits no more, 409 where it or its thread has changed.
    """
    held = await _held(app, reply_id)
    said = DraftDecided.model_validate({"reply_id": reply_id, "thread_id": held.thread_id, **word})
    if said.text_sha256 != held.text_sha256:
        raise _changed()
    try:
        check_wording(held, said)
        said = said.model_copy(update={"files": await keep_files(app, said, files)})
    except FilesTooLarge as error:
        raise RequestRefused(413, "files_too_large", str(error)) from None
    except WordsWanted as error:
        raise RequestRefused(409, "words_wanted", str(error)) from None
    became = await decide(app, said, timeout_s=WAIT_S)
    if became.state == "draft":
        raise _changed()
    return DraftOutcome(reply_id=reply_id, state=became.state, detail=became.detail)


def _changed() -> RequestRefused:
    return RequestRefused(
        409, "draft_changed", "the draft or its thread is not what you saw: look again, and decide again"
    )


async def _held(app: App, reply_id: UUID) -> HeldDraft:
    async with app.database.reading() as conn:
        held = await held_draft(conn, app.settings.workspace, reply_id)
    if held is None:
        raise RequestRefused(404, "draft_unknown", "no draft with this id waits for a person")
    return held


# Outreach over HTTP: what came of mail that we began.


def add_outreach(router: APIRouter, app: App) -> None:
    """Reading alone."""

    @router.get("/outreach")
    async def by_rule() -> list[RuleLine]:
        """What came of mail that we began, by inbox and rule."""
        async with app.database.reading() as conn:
            return await outreach_by_rule(conn, app.settings.workspace)


# How good the agent's words are, over HTTP.


def add_quality(router: APIRouter, app: App) -> None:
    """Reading it."""

    @router.get("/quality")
    async def of_replies(weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12) -> Quality:
        """What people made of drafts and replies, by week, inbox, intent and model; of nobody by name."""
        return await quality(app, weeks)


def add_thumbs(router: APIRouter, app: App) -> None:
    """What people in the team think of replies that left: reading, giving and taking back."""

    @router.get("/replies/{reply_id}/thumbs")
    async def listed(reply_id: UUID) -> list[Thumb]:
        """What is thought of a reply; nothing of one that is unknown."""
        async with app.database.reading() as conn:
            return await thumbs_of(conn, app.settings.workspace, [reply_id])

    @router.put("/replies/{reply_id}/thumb")
    async def give(reply_id: UUID, body: NewThumb) -> list[Thumb]:
        """Say what one thinks of a reply, in place of what one said before; all that is thought of it."""
        try:
            await give_thumb(app, reply_id, body.by, body.good, body.reason)
        except ThumbUnknown as error:
            raise RequestRefused(404, "reply_unknown", str(error)) from None
        except ThumbRefused as error:
            raise RequestRefused(422, "thumb_refused", str(error)) from None
        return await listed(reply_id)

    @router.delete("/replies/{reply_id}/thumb")
    async def take_back(reply_id: UUID, by: ByQuery) -> list[Thumb]:
        """Take back what one said; what others think of it."""
        try:
            await take_thumb_back(app, reply_id, by)
        except ThumbUnknown as error:
            raise RequestRefused(404, "reply_unknown", str(error)) from None
        return await listed(reply_id)


# Patterns of approval over HTTP: what people make of drafts by intent, and opening and closing one.


def add_patterns(router: APIRouter, app: App) -> None:
    """Reading and changing them."""

    @router.get("/patterns")
    async def listed() -> list[Pattern]:
        """What people make of drafts, by inbox and intent, and how far each intent is from needing no person."""
        async with app.database.reading() as conn:
            return await patterns(conn, app.settings.workspace, app.settings.approval)

    @router.put("/patterns/{inbox}/{intent}")
    async def change_one(inbox: str, intent: str, body: PatternChange) -> Pattern:
        """Open or close an intent of an inbox; as it then is."""
        try:
            return await change(
                app, inbox, intent, is_open=body.is_open, by=body.by, reason=body.reason, timeout_s=WAIT_S
            )
        except PatternUnknown as error:
            raise RequestRefused(404, "pattern_unknown", str(error)) from None
