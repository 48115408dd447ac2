"""The profile of a participant over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from services.core.app import App
from services.operations.memory.profile import ProfileField, change_profile, profile_of
from services.web.bodies import ProfileChange
from services.web.named import Who, person
from services.web.patience import WAIT_S


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
