"""Teams: people who share a queue of threads.

A thread is assigned to a team as to a person, by a name. In a team's queue are the open threads that it has, and of its
inboxes those that need a person and that nobody has. A note that names a team asks each of its members to look.

Invariants
- No team has the name of a user, nor of one who was removed, and no user that of a team.
- A team that open threads are assigned to is not removed: nobody would find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.errors import UniqueViolation

from services.core.app import App
from services.core.clock import random_id
from services.core.db import fetch_one, queries, rows_as
from services.core.errors import Permanent
from services.operations import users
from services.operations.users.names import name_key

SQL = queries(__file__, "teams.sql")
Refusal = Literal["name", "taken", "most", "members", "inbox", "threads"]
MOST = 50  # teams
MOST_MEMBERS = 50  # of one team


class TeamRefused(Permanent):
    """A team cannot be made, changed or removed so; `code` says why for pages in other languages."""

    def __init__(self, code: Refusal, message: str) -> None:
        super().__init__(message)
        self.code = code


class TeamUnknown(Permanent):
    """There is no such team."""


@dataclass(frozen=True, slots=True)
class Team:
    """A team with the names of its members and of its inboxes."""

    team_id: UUID
    name: str
    members: list[str]
    inboxes: list[str]


async def list_teams(app: App) -> list[Team]:
    """Every team, by name."""
    async with app.database.reading() as conn:
        return await rows_as(conn, Team, SQL.teams, {"workspace": app.settings.workspace})


async def team_named(app: App, name: str) -> Team:
    """One team by its name. Raises `TeamUnknown`."""
    found = [one for one in await list_teams(app) if name_key(one.name) == name_key(name)]
    if not found:
        raise TeamUnknown(f"there is no team {name!r}")
    return found[0]


async def team_of(app: App, team_id: UUID) -> Team:
    """One team by its id. Raises `TeamUnknown`."""
    found = [one for one in await list_teams(app) if one.team_id == team_id]
    if not found:
        raise TeamUnknown("there is no such team any more")
    return found[0]


async def add_team(app: App, name: str, members: Sequence[str], inboxes: Sequence[str]) -> Team:
    """Make a team of users and inboxes, each by its name. Raises `TeamRefused`, `UserUnknown`."""
    if len(await list_teams(app)) >= MOST:
        raise TeamRefused("most", f"there are {MOST} teams: remove one first")
    try:
        shown = users.name_of(name)
    except users.UserRefused as error:
        raise TeamRefused("name", str(error)) from None
    row = await _row(app, random_id(), members, inboxes) | {"name": shown, "name_key": name_key(shown)}
    try:
        async with app.database.reading() as conn:
            made = await fetch_one(conn, SQL.add_team, row)
    except UniqueViolation:
        made = None
    if made is None:
        raise TeamRefused("taken", "this name is taken: it names another team, or a user, or one who has left")
    return await team_of(app, row["team_id"])


async def change_team(app: App, team_id: UUID, members: Sequence[str], inboxes: Sequence[str]) -> Team:
    """Give a team other members and inboxes. Raises `TeamUnknown`, `TeamRefused`, `UserUnknown`."""
    row = await _row(app, team_id, members, inboxes)
    async with app.database.reading() as conn:
        await conn.execute(SQL.change_team, row)
    return await team_of(app, team_id)


async def remove_team(app: App, team_id: UUID) -> None:
    """Have a team no more. Raises `TeamUnknown`, and `TeamRefused` where open threads are its own."""
    team = await team_of(app, team_id)
    args = {"workspace": app.settings.workspace, "team_id": team_id, "name": team.name}
    async with app.database.reading() as conn:
        if await fetch_one(conn, SQL.has_threads, args):
            raise TeamRefused("threads", "it has open threads: assign them to somebody first")
        await conn.execute(SQL.remove_team, args)


async def _row(app: App, team_id: UUID, members: Sequence[str], inboxes: Sequence[str]) -> dict[str, Any]:
    """A team's row without its name. Raises `TeamRefused`, `UserUnknown`."""
    people = [await users.user_named(app, name) for name in members]
    ids = list(dict.fromkeys(one.user_id for one in people))
    if len(ids) > MOST_MEMBERS:
        raise TeamRefused("members", f"a team has {MOST_MEMBERS} members at most")
    known = [one.name for one in app.settings.inboxes]
    if unknown := [name for name in inboxes if name not in known]:
        raise TeamRefused("inbox", f"there is no inbox named {unknown[0]!r} in the settings")
    return {
        "workspace": app.settings.workspace,
        "team_id": team_id,
        "members": ids,
        "inboxes": list(dict.fromkeys(inboxes)),
    }
