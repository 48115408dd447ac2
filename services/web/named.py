"""Whom a path means: `{who}` is an address or a participant's id; and who asks, by default the caller's token says."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.people import InSeveralSpaces, NobodyFound, Person, find_person
from services.web.bodies import By
from services.web.caller import name_of_caller

ByQuery = Annotated[By, Query(default_factory=name_of_caller)]
Who = Annotated[str, Path(description="an address that has written to us, or a participant's id", max_length=320)]


async def person(app: App, who: str) -> Person:
    """The participant of this deployment's workspace. Raises `RequestRefused`: 404, or 409 where an id must say."""
    async with app.database.reading() as conn:
        try:
            return await find_person(conn, app.settings.workspace, who)
        except NobodyFound as error:
            raise RequestRefused(404, "participant_unknown", str(error)) from None
        except InSeveralSpaces as error:
            raise RequestRefused(409, "participant_in_several_spaces", str(error)) from None
