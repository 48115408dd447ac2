"""`correspondent profile`: what our own people keep of a participant, apart from what the agent learned."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from services.cli.terminal import console, plain
from services.core.error_words import plain_words
from services.operations.deployment import app_here
from services.operations.memory.people import find_person
from services.operations.memory.profile import change_profile, profile_of

if TYPE_CHECKING:
    from services.web.bodies import ProfileChange


def profile(
    context: typer.Context,
    who: Annotated[str, typer.Argument(help="The person: an address that wrote to us, or a participant's id.")],
    put: Annotated[list[str], typer.Option("--set", help="field=value; may be given again.")] = [],  # noqa: B006
    unset: Annotated[list[str], typer.Option(help="A field to remove; may be given again.")] = [],  # noqa: B006
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who asks, for the log.")] = "operator",
) -> None:
    """Show or change a person's profile.

    The agent reads it first, and never writes it.
    """
    change = _change(put, unset, reason, by)

    async def run(home: Path) -> None:
        async with app_here(home, publishes=change is not None) as app:
            async with app.database.reading() as conn:
                one = await find_person(conn, app.settings.workspace, who)
            if change:
                request = (dict(change.fields), change.remove, change.by, change.reason)
                found = await change_profile(app, one.participant_id, *request)
            else:
                found = await profile_of(app, one.participant_id)
        for field in found:
            why = f"  # {field.by}, {field.at:%Y-%m-%d}{': ' if field.reason else ''}{field.reason}"
            console.print(plain(f"{field.field} = {field.value}"), plain(why, "dim"), sep="")
        if not found:
            console.print("Nothing is kept; set a field with --set field=value.")

    asyncio.run(run(context.obj))


def _change(put: list[str], unset: list[str], reason: str, by: str) -> ProfileChange | None:
    if not put and not unset:
        return None
    if bare := [one for one in put if "=" not in one]:
        raise typer.BadParameter(f"{bare[0]!r} is no field=value")
    from services.web.bodies import ProfileChange  # its models take a tenth of a second, which reading does not need

    fields = {name.strip(): value for name, _, value in (one.partition("=") for one in put)}
    try:
        return ProfileChange.model_validate({"fields": fields, "remove": unset, "reason": reason, "by": by})
    except ValidationError as error:
        raise typer.BadParameter("; ".join(plain_words(one["msg"]) for one in error.errors())) from None
