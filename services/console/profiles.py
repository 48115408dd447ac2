"""The profile of a participant over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from services.console.bodies import ProfileChange
from services.console.memory.profile import ProfileField, change_profile, profile_of
from services.console.named import Who, person
from services.core.house import House

WAIT_S = 5.0  # how long a request waits for learn_facts' decision


def add_profile(router: APIRouter, house: House) -> None:
    """Reading and changing it."""

    @router.get("/participants/{who}/profile")
    async def profile(who: Who) -> list[ProfileField]:
        """What our own people keep of a participant."""
        return await profile_of(house, (await person(house, who)).participant_id)

    @router.patch("/participants/{who}/profile")
    async def change(who: Who, body: ProfileChange) -> list[ProfileField]:
        """Set fields and remove fields; the profile as it then is."""
        one = await person(house, who)
        wish = (dict(body.fields), body.remove, body.by, body.reason)
        return await change_profile(house, one.participant_id, *wish, timeout_s=WAIT_S)
