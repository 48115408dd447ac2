"""Teams over HTTP: who shares which queue of threads, changed by admins. `GET /api/inbox?view=team` is the queue."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.users import UserUnknown, teams
from services.operations.users.audit import note
from services.operations.users.teams import Team, TeamRefused, TeamUnknown
from services.web.bodies import By
from services.web.caller import name_of_caller

T = TypeVar("T")
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class TeamChange(BaseModel):
    """Who is in a team, and which inboxes are its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: tuple[Name, ...] = Field(max_length=teams.MOST_MEMBERS, description="names or addresses of users")
    inboxes: tuple[Name, ...] = Field((), max_length=500, description="what needs a person there is in its queue")
    by: By = Field(default_factory=name_of_caller)


class NewTeam(TeamChange):
    """A team under a name that nobody has."""

    name: Annotated[str, StringConstraints(max_length=200)]


def add_teams(router: APIRouter, app: App) -> None:
    """Reading, for everybody who may read settings, and changing."""

    @router.get("/teams")
    async def listed() -> list[Team]:
        """Every team, by name; 50 at most."""
        return await teams.list_teams(app)

    @router.post("/teams")
    async def add(body: NewTeam) -> Team:
        """Make a team. Threads are assigned to it by its name."""
        team = await _known(teams.add_team(app, body.name, body.members, body.inboxes))
        await note(app, body.by, "teams add", team.name)
        return team

    @router.put("/teams/{team_id}")
    async def change(team_id: UUID, body: TeamChange) -> Team:
        """Give a team other members and inboxes."""
        team = await _known(teams.change_team(app, team_id, body.members, body.inboxes))
        await note(app, body.by, "teams set", team.name)
        return team

    @router.delete("/teams/{team_id}", status_code=204)
    async def remove(team_id: UUID) -> None:
        """Have a team no more; 409 where open threads are assigned to it."""
        team = await _known(teams.team_of(app, team_id))
        await _known(teams.remove_team(app, team_id))
        await note(app, name_of_caller(), "teams remove", team.name)


async def _known(asked: Awaitable[T]) -> T:
    """What was asked for; a refusal in words."""
    try:
        return await asked
    except TeamUnknown as error:
        raise RequestRefused(404, "team_unknown", str(error)) from None
    except UserUnknown as error:
        raise RequestRefused(422, "user_unknown", str(error)) from None
    except TeamRefused as error:
        fits = {"threads": 409, "taken": 409}
        raise RequestRefused(fits.get(error.code, 422), "team_refused", str(error)) from None
