"""`correspondent memory graph`: who and what hang together around a person, read from the facts as they stand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from services.cli.memory import view as showing
from services.cli.memory.person import Who, of_person, print_lines
from services.core.app import App
from services.operations.memory.graph import graph_of
from services.operations.memory.people import Person


def graph(
    context: typer.Context,
    who: Who,
    about: Annotated[str, typer.Option(help="Only what names this thing, or has this key.")] = "",
    at: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="As it was known then, UTC.")
    ] = None,
) -> None:
    """Show what a person's facts connect them with, and who else is connected with the same.

    Nothing is stored for it: an edge is a fact, and is gone with it. Others are not shown with --at.
    """
    moment = at.replace(tzinfo=UTC) if at else None

    async def run(app: App, one: Person) -> None:
        async with app.database.reading() as conn:
            found = await graph_of(conn, app.settings.workspace, one, now=app.now(), about=about, at=moment)
        print_lines(map(showing.edge, found.own), empty="Nothing is known that connects them.")
        print_lines((f"    {showing.edge(each)}" for each in found.others), empty="")

    of_person(context, who, run)
