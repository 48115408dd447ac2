"""What commands about a person share: whom a word names, the deployment that they run in, lines of plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated

import typer

from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.cli.memory import view as showing
from services.cli.requests import in_house
from services.cli.terminal import console, plain
from services.core.app import App
from services.operations.memory.outcomes import became
from services.operations.memory.people import Person, find_person
from services.operations.requests import ask

Who = Annotated[str, typer.Argument(help="The person: an address that wrote to us, or a participant's id.")]


def of_person(context: typer.Context, who: str, run: Callable[[App, Person], Awaitable[None]]) -> None:
    """Run something with the deployment and the person whom `who` names. Raises `NobodyFound`."""

    async def with_person(app: App) -> None:
        async with app.database.reading() as conn:
            one = await find_person(conn, app.settings.workspace, who)
        await run(app, one)

    in_house(context, with_person)


async def ask_about(app: App, request: FactRequested | ParticipantMergeRequested) -> None:
    """Ask, wait for the decision, and say it; exit code 1 where it was refused."""
    named = request.fact_id if isinstance(request, FactRequested) else None
    decided = await became(app, request.participant_id, (await ask(app, request)).id, fact_id=named)
    console.print(plain(showing.decided(decided)))
    if decided.refused:
        raise typer.Exit(1)


def print_lines(lines: Iterable[str], empty: str = "Nothing is remembered.") -> None:
    """Each on its own, or what is said where there are none."""
    told = list(lines)
    for one in told or ([empty] if empty else []):
        console.print(plain(one))
