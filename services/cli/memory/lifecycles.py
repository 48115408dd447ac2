"""`correspondent memory lifecycle` and `move`: how a person stands with us, why, and a step along the lifecycle."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from services.cli.memory import view as showing
from services.cli.memory.person import Who, of_person, print_lines
from services.cli.requests import By
from services.cli.terminal import console, plain
from services.core.app import App
from services.operations.memory.people import Person
from services.operations.memory.relationship import move as ask_to_move
from services.operations.memory.relationship import relationship


class State(StrEnum):
    """The states of the lifecycle."""

    UNKNOWN = "unknown"
    PROSPECT = "prospect"
    CUSTOMER = "customer"
    VIP = "vip"
    AT_RISK = "at_risk"
    CHURNED = "churned"
    RETURNING = "returning"


def lifecycle(context: typer.Context, who: Who) -> None:
    """Show a person's lifecycle: steps and refusals, mood and risk."""

    async def run(app: App, one: Person) -> None:
        async with app.database.reading() as conn:
            found = await relationship(conn, app.settings.workspace, one)
        print_lines([showing.person(one), *map(showing.step, found.steps)])
        print_lines(map(showing.mood, found.moods), empty="")

    of_person(context, who, run)


def move(
    context: typer.Context,
    who: Who,
    to: Annotated[State, typer.Argument(help="Target state.")],
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Request one step of a person's lifecycle."""

    async def run(app: App, one: Person) -> None:
        made = await ask_to_move(app, one, to.value, reason, by)
        if made is None:
            console.print(f"They are {to.value} already.")
            return
        console.print(plain(showing.step(made)))
        if made.refused:
            raise typer.Exit(1)

    of_person(context, who, run)
