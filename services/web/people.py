"""Participants over HTTP: the profile, how one stands with us, and who is the same person as whom."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from schemas.events.merging import ParticipantMergeRequested
from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations.memory.people import NobodyFound, Person, pairs, same_person
from services.operations.memory.profile import ProfileField, change_profile, profile_of
from services.operations.memory.relationship import LifecycleStep, Relationship, move, relationship
from services.operations.memory.timeline import Moment, timeline
from services.operations.requests import NotDecidedYet
from services.web.bodies import LifecycleCommand, OtherSelf, Outcome, ProfileChange
from services.web.facts import outcome
from services.web.named import ByQuery, Who, person
from services.web.refusals import PENDING, WAIT_S


def add_lifecycle(router: APIRouter, app: App) -> None:
    """Reading and asking."""

    @router.get("/participants/{who}/lifecycle")
    async def lifecycle(who: Who) -> Relationship:
        """State with every step, issues, and how mood and risk came to what they are."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await relationship(conn, app.settings.workspace, one)

    @router.post("/participants/{who}/lifecycle", responses=PENDING)
    async def step(who: Who, body: LifecycleCommand, response: Response) -> LifecycleStep | None:
        """Ask for a step: 200 with it, or null where they stand there already; 409 refused; 202 not decided yet."""
        one = await person(app, who)
        try:
            made = await move(app, one, body.to, body.reason, body.by, timeout_s=WAIT_S)
        except NotDecidedYet:
            response.status_code = 202
            return None
        if made is not None and made.refused:
            raise RequestRefused(409, "step_refused", made.refused)
        return made


# What came to pass with a participant, over HTTP.


def add_timeline(router: APIRouter, app: App) -> None:
    """Reading it."""

    @router.get("/participants/{who}/timeline")
    async def moments(
        who: Who, request: Request, response: Response, limit: Limit = 50, after: After = ""
    ) -> list[Moment]:
        """Facts that began and ended, mails, replies, told periods, outreach, incidents, standing; the newest first."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            page = await timeline(conn, app, one.participant_id, limit=limit, after=after)
        return linked(request, response, page)


# The profile of a participant over HTTP.


def add_profile(router: APIRouter, app: App) -> None:
    """Reading and changing it."""

    @router.get("/participants/{who}/profile")
    async def profile(who: Who) -> list[ProfileField]:
        """What our own people keep of a participant."""
        return await profile_of(app, (await person(app, who)).participant_id)

    @router.patch("/participants/{who}/profile")
    async def change(who: Who, body: ProfileChange) -> list[ProfileField]:
        """Set fields and remove fields; the profile as it then is."""
        one = await person(app, who)
        command = (dict(body.fields), body.remove, body.by, body.reason)
        return await change_profile(app, one.participant_id, *command, timeout_s=WAIT_S)


# Participants that are one person, over HTTP: 200 with the decision, 409 refused, 202 where it is not decided yet.


def add_merges(router: APIRouter, app: App) -> None:
    """Reading and asking."""

    @router.get("/participants/{who}/same-person")
    async def others(who: Who) -> list[Person]:
        """The other participants who are the same person: what is known of one is known of all."""
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await same_person(conn, app.settings.workspace, one.participant_id)

    @router.post("/participants/{who}/merge", responses=PENDING)
    async def merge(who: Who, body: OtherSelf, response: Response) -> Outcome:
        """The participant is the same person as another one. Nothing is moved, and it can be undone."""
        return await _each(app, who, body.into, response, op="merge", by=body.by, reason=body.reason)

    @router.delete("/participants/{who}/merge/{into}", responses=PENDING)
    async def unmerge(who: Who, into: str, response: Response, by: ByQuery) -> Outcome:
        """Undo a merge: each is again what was learned under their own address."""
        return await _each(app, who, into, response, op="unmerge", by=by)


async def _each(app: App, who: str, into: str, response: Response, **asked: Any) -> Outcome:
    """Ask it in every space that knows both; what became of the last."""
    async with app.database.reading() as conn:
        try:
            found = await pairs(conn, app.settings.workspace, who, into)
        except NobodyFound as error:
            raise RequestRefused(404, "participant_unknown", str(error)) from None
    became = [
        await outcome(
            app,
            ParticipantMergeRequested(participant_id=one.participant_id, into=other.participant_id, **asked),
            response,
        )
        for one, other in found
    ]
    return became[-1]
