"""`correspondent teams`: who shares which queue of threads."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from services.cli.requests import in_house
from services.cli.terminal import console, plain
from services.core.app import App
from services.operations.users import teams
from services.operations.users.audit import note

typer_app = typer.Typer(no_args_is_help=True, help="Manage teams, which share a queue of threads.")
BY = "command line"
Name = Annotated[str, typer.Argument(help="The team's name.")]
Members = Annotated[list[str] | None, typer.Option("--member", help="A user, by name or address; again for more.")]
Inboxes = Annotated[list[str] | None, typer.Option("--inbox", help="An inbox of the settings; again for more.")]


@typer_app.command("list")
def show(context: typer.Context) -> None:
    """List teams with their members and inboxes."""
    found = in_house(context, teams.list_teams)
    table = Table("team", "members", "inboxes", box=None)
    for one in found:
        table.add_row(plain(one.name), plain(", ".join(one.members)), plain(", ".join(one.inboxes)))
    console.print(table if found else "There is no team: `correspondent teams add NAME --member GRACE` makes one.")


@typer_app.command("add")
def add(context: typer.Context, name: Name, member: Members = None, inbox: Inboxes = None) -> None:
    """Make a team; `correspondent assign THREAD NAME` gives it a thread."""

    async def run(app: App) -> str:
        team = await teams.add_team(app, name, member or (), inbox or ())
        await note(app, BY, "teams add", team.name)
        return f"{team.name} is a team now."

    console.print(plain(in_house(context, run)))


@typer_app.command("set")
def change(context: typer.Context, name: Name, member: Members = None, inbox: Inboxes = None) -> None:
    """Give a team other members and inboxes: those that are named, and no others."""

    async def run(app: App) -> str:
        team = await teams.team_named(app, name)
        await teams.change_team(app, team.team_id, member or (), inbox or ())
        await note(app, BY, "teams set", team.name)
        return f"{team.name} was changed."

    console.print(plain(in_house(context, run)))


@typer_app.command("remove")
def remove(context: typer.Context, name: Name) -> None:
    """Have a team no more; one with open threads stays."""

    async def run(app: App) -> str:
        team = await teams.team_named(app, name)
        await teams.remove_team(app, team.team_id)
        await note(app, BY, "teams remove", team.name)
        return f"{team.name} is no team any more."

    console.print(plain(in_house(context, run)))
