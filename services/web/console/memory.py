"""What a person asks of a participant's memory; learn_facts decides, and a refusal says why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from schemas.events.memory import BriefRequested, FactRequested
from services.core.web import RequestRefused
from services.operations.memory.briefs import change_brief
from services.operations.memory.people import Person
from services.operations.requests import NotDecidedYet
from services.web.bodies import Correction, NewBrief
from services.web.console.forms import checked
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.facts import outcome
from services.web.named import person
from services.web.refusals import WAIT_S

ACTS = {"pin": "pinned", "unpin": "unpinned", "forget": "forgotten"}


def memory_acts(site: Site) -> APIRouter:
    """Facts and the brief."""
    router, app = site.router(), site.app

    @router.post("/people/{who}/facts/{fact_id}/correct")
    async def correct(request: Request, who: UUID, fact_id: UUID) -> Response:
        body = checked(Correction, value=form_of(request).get("value", ""), by=viewer(request))
        return await ask(who, "corrected", op="correct", fact_id=fact_id, **body.model_dump())

    @router.post("/people/{who}/facts/{fact_id}/{act}")
    async def act_on(request: Request, who: UUID, fact_id: UUID, act: str) -> Response:
        if act not in ACTS:
            raise RequestRefused(404, "act_unknown", translated("There is no such page."))
        return await ask(who, ACTS[act], op=act, fact_id=fact_id, by=viewer(request))

    @router.post("/people/{who}/brief")
    async def brief(request: Request, who: UUID) -> Response:
        form, one = form_of(request), await person(app, str(who))
        body = checked(NewBrief, text=form.get("text", ""), base=form.get("base", ""), by=viewer(request))
        asked = BriefRequested(participant_id=one.participant_id, op="edit", **body.model_dump())
        try:
            became = await change_brief(app, asked, timeout_s=WAIT_S)
        except NotDecidedYet:
            return done(_place(one), "pending")
        if became.refused:
            raise RequestRefused(409, "refused", translated("Not done: %(reason)s.", reason=became.reason))
        return done(_place(one), "brief", "brief")

    async def ask(who: UUID, what: str, **given: Any) -> Response:
        one, asked = await person(app, str(who)), Response()
        await outcome(app, FactRequested(participant_id=one.participant_id, **given), asked)
        return done(_place(one), "pending" if asked.status_code == 202 else what, "facts")

    return router


def _place(one: Person) -> str:
    return f"/people/{one.participant_id}"
