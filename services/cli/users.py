"""`correspondent users`: who may sign in to the console, with what role."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from services.cli.console import link_address
from services.cli.requests import in_house
from services.cli.terminal import console, plain
from services.core.app import App
from services.operations import users
from services.operations.sign_in import INVITATION_LASTS, make_link
from services.operations.users import Role, User
from services.operations.users.audit import note
from services.operations.users.invitations import send_invitation

typer_app = typer.Typer(no_args_is_help=True, help="Manage who may sign in to the console.")
BY = "command line"
Who = Annotated[str, typer.Argument(help="Their name or address.")]


@typer_app.command("list")
def show(context: typer.Context) -> None:
    """List users with their role."""
    found = in_house(context, users.list_users)
    console.print(_table(found) if found else "Nobody is a user yet: `correspondent console` makes the first.")


@typer_app.command("invite")
def invite(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The name that is recorded with what they do.")],
    email: Annotated[str, typer.Argument(help="Where the invitation goes.")],
    role: Annotated[Role, typer.Option(help="What they may do.")] = "agent",
) -> None:
    """Invite somebody by mail; where it cannot be sent, print the link."""

    async def run(app: App) -> str:
        user = await users.add_user(app, name, role, by=BY, email=email)
        link = link_address(app.settings.web, await make_link(app, user, INVITATION_LASTS))
        await note(app, BY, "users invite", user.name)
        failed = await send_invitation(app, user, link, INVITATION_LASTS.days)
        where = f"Their link, once, for {INVITATION_LASTS.days} days: {link}"
        return f"Not mailed: {failed}. {where}" if failed else "Invited."

    console.print(plain(in_house(context, run)), soft_wrap=True)


@typer_app.command("role")
def role(context: typer.Context, who: Who, new: Annotated[Role, typer.Argument(help="The new role.")]) -> None:
    """Give a user another role."""

    async def run(app: App) -> str:
        user = await users.user_named(app, who)
        await users.set_role(app, user.user_id, new)
        await note(app, BY, f"users role {new}", user.name)
        return f"{user.name} is {new} now."

    console.print(plain(in_house(context, run)))


@typer_app.command("remove")
def remove(context: typer.Context, who: Who) -> None:
    """Let a user in no more, from their next request on."""

    async def run(app: App) -> str:
        user = await users.user_named(app, who)
        await users.remove_user(app, user.user_id)
        await note(app, BY, "users remove", user.name)
        return f"{user.name} is out."

    console.print(plain(in_house(context, run)))


def _table(found: list[User]) -> Table:
    table = Table("name", "address", "role", "joined", "second factor", box=None)
    for one in found:
        joined = f"{one.joined_at:%Y-%m-%d}" if one.joined_at else "invited"
        table.add_row(plain(one.name), plain(one.email), one.role, joined, "yes" if one.has_second_factor else "")
    return table
