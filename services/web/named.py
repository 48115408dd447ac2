"""Whom a path means: `{who}` is an address or a participant's id."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.memory.people import InSeveralSpaces, NobodyFound, Person, find_person

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
