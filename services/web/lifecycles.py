"""How a participant stands with us, over HTTP: read with reasons and causes, and moved by its edges."""

from __future__ import annotations

from fastapi import APIRouter, Response

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.relationship import LifecycleStep, Relationship, move, relationship
from services.operations.requests import NotDecidedYet
from services.web.bodies import LifecycleCommand
from services.web.named import Who, person
from services.web.patience import WAIT_S
from services.web.refusals import PENDING


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
