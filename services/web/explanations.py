"""Why a reply says what it says, over HTTP."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter

from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.web import RequestRefused
from services.operations.threads.explanations import Explanation, NothingToExplain, explain_reply, explain_thread


def add_explanations(router: APIRouter, app: App) -> None:
    """Of a thread's newest turn, of one turn, or of a reply."""
    workspace, archive = app.settings.workspace, archive_of(app.settings)

    @router.get("/threads/{thread_id}/context")
    async def of_thread(thread_id: UUID, turn: UUID | None = None) -> Explanation:
        """The context that a turn was answered from, by default the newest: layers, settings, what was decided."""
        async with app.database.reading() as conn:
            try:
                return await explain_thread(conn, workspace, thread_id, turn, archive=archive)
            except NothingToExplain as error:
                raise RequestRefused(404, "context_unknown", str(error)) from None
            except (ArchiveMissing, ArchiveDamaged) as error:
                raise RequestRefused(503, "archive_unreadable", str(error)) from None

    @router.get("/replies/{reply_id}/context")
    async def of_reply(reply_id: UUID) -> Explanation:
        """The context that a reply was made from."""
        async with app.database.reading() as conn:
            try:
                return await explain_reply(conn, workspace, reply_id, archive=archive)
            except NothingToExplain as error:
                raise RequestRefused(404, "context_unknown", str(error)) from None
            except (ArchiveMissing, ArchiveDamaged) as error:
                raise RequestRefused(503, "archive_unreadable", str(error)) from None
