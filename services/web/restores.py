"""Memory brought back to a moment, over HTTP: one person's at once, a workspace's confirmed, watched, stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import AwareDatetime

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory import restores
from services.operations.memory.restores import WorkspaceRestore
from services.operations.memory.restoring import Difference, NotPastYet, Restored, difference, restore_within
from services.web.bodies import RestoreConfirmed, Restoring
from services.web.named import ByQuery, Who, person
from services.web.refusals import PENDING, WAIT_S


@dataclass(frozen=True, slots=True)
class PersonChanges:
    """How much of a person would change, by kind: (came, gone). The facts: `GET /api/participants/{id}/restore?at=`."""

    participant_id: UUID
    kinds: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class RestoreSeen:
    """A restore, and while it waits for a yes the first of the people whom it would change."""

    restore: WorkspaceRestore
    people: list[PersonChanges]


def add_restores(router: APIRouter, app: App) -> None:
    """No request waits for it: the process that keeps time does it."""

    @router.get("/restores")
    async def listed() -> list[WorkspaceRestore]:
        """Restores of this workspace, the newest first."""
        return await restores.restores(app)

    @router.post("/restores", status_code=202)
    async def begin(body: Restoring) -> WorkspaceRestore:
        """Have it counted what a restore would change; nothing is changed."""
        try:
            return await restores.begin(app, body.at, by=body.by)
        except NotPastYet as error:
            raise RequestRefused(422, "not_past_yet", str(error)) from None
        except restores.BeforeMemory as error:
            raise RequestRefused(422, "before_memory", str(error)) from None
        except restores.RestoreUnderWay as error:
            raise RequestRefused(409, "restore_under_way", str(error)) from None

    @router.get("/restores/{restore_id}")
    async def one(restore_id: UUID) -> RestoreSeen:
        """How far it is, and what it would change."""
        found = await _found(app, restore_id)
        seen = await restores.examples(app, found) if found.state == "looked" else []
        return RestoreSeen(found, [PersonChanges(one.participant_id, restores.by_kind(what)) for one, what in seen])

    @router.post("/restores/{restore_id}/confirm", status_code=202)
    async def confirm(restore_id: UUID, body: RestoreConfirmed) -> WorkspaceRestore:
        """Have it done, where it would change as many people as you saw."""
        await _found(app, restore_id)
        try:
            return await restores.confirm(app, restore_id, people=body.people, by=body.by)
        except restores.NotAsSeen as error:
            raise RequestRefused(409, "not_as_seen", str(error)) from None

    @router.delete("/restores/{restore_id}")
    async def stop(restore_id: UUID, by: ByQuery) -> WorkspaceRestore:
        """Stop it; who was brought back stays so."""
        await _found(app, restore_id)
        return await restores.stop(app, restore_id, by=by)


async def _found(app: App, restore_id: UUID) -> WorkspaceRestore:
    try:
        return await restores.found(app, restore_id)
    except restores.RestoreUnknown as error:
        raise RequestRefused(404, "restore_unknown", str(error)) from None


# A person's facts brought back to what was believed at a moment, over HTTP: looked at first, then done.
At = Annotated[AwareDatetime, Query(description="with its offset: 2026-01-15T09:00:00Z")]


def add_restoring(router: APIRouter, app: App) -> None:
    """Looking, which changes nothing, and doing."""

    @router.get("/participants/{who}/restore")
    async def look(who: Who, at: At) -> Difference:
        """The facts that came since a moment, and those that are gone since, as they stood then."""
        one = await person(app, who)
        try:
            return await difference(app, one.participant_id, at)
        except NotPastYet as error:
            raise RequestRefused(422, "not_past_yet", str(error)) from None

    @router.post("/participants/{who}/restore", responses=PENDING)
    async def bring_back(who: Who, body: Restoring, response: Response) -> Restored:
        """Take back what came, add what is gone: 200 with the decision on each fact, refused ones too.

        202 where `done` is false: the same request again goes on, and asks nothing twice.
        """
        one = await person(app, who)
        try:
            made = await restore_within(app, one.participant_id, body.at, by=body.by, seconds=WAIT_S)
        except NotPastYet as error:
            raise RequestRefused(422, "not_past_yet", str(error)) from None
        response.status_code = 200 if made.done else 202
        return made
