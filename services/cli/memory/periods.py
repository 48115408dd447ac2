"""`correspondent memory periods`: a person's days to years as a model told them, with the rows behind each sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from schemas.model_output import Grain
from services.cli.memory import view as showing
from services.cli.memory.person import Who, of_person, print_lines
from services.core.app import App
from services.operations.memory.people import Person

NONE = "No period of theirs was told. A model tells periods that are over where condense.enabled is true."


def periods(
    context: typer.Context,
    who: Who,
    text: Annotated[str, typer.Argument(help="Only those that answer this, best first.")] = "",
    grain: Annotated[Grain | None, typer.Option(help="Only periods of this length.")] = None,
    limit: Annotated[int, typer.Option(help="So many at most.", min=1, max=100)] = 20,
) -> None:
    """Show what a model said of a person's days, weeks, months, quarters and years, and whether it stands.

    One of which a row was corrected, merged or went is shown to nobody but here; the agent gets the rows.
    """

    async def run(app: App, one: Person) -> None:
        from services.operations.periods import find_periods, periods_of

        if text:
            found = await find_periods(app, one.participant_id, text, now=app.now(), limit=limit)
        else:
            found = await periods_of(app, one.participant_id, grain=grain, limit=limit)
        print_lines(map(showing.period, found), empty="Nothing that stands answers this." if text else NONE)

    of_person(context, who, run)
