"""`correspondent memory brief|periods`: what the agent is told of a person before a reply; shown, written, deleted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from schemas.events.memory import BriefRequested
from schemas.model_output import Grain
from services.cli.memory import view as showing
from services.cli.memory.person import Who, of_person, print_lines
from services.cli.requests import By
from services.cli.terminal import console, plain
from services.core.app import App
from services.core.error_words import plain_words
from services.operations.memory.briefs import briefs_of, change_brief, earlier_briefs
from services.operations.memory.people import Person

STANDARD_INPUT = "-"


def brief(
    context: typer.Context,
    who: Who,
    edit: Annotated[str | None, typer.Option(help="Write this in its place.")] = None,
    edit_from: Annotated[
        str | None, typer.Option("--from", help="Write what this file says in its place; `-` is standard input.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Show the latest earlier versions as well.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete it.")] = False,
    by: By = "operator",
) -> None:
    """Show a person's brief, or write or delete it.

    What turns at the same time wrote beside it is shown below; the next turn merges it.
    """
    if (edit is not None) + (edit_from is not None) + delete > 1:
        raise typer.BadParameter("give one of --edit, --from and --delete")
    text = _read(edit_from) if edit_from is not None else edit
    given = _given(text, by) if text is not None else {"op": "delete", "by": by} if delete else None

    async def run(app: App, one: Person) -> None:
        if given is None:
            found = await briefs_of(app, one.participant_id)
            print_lines([showing.brief(each) for each in found], empty="There is no brief.")
            earlier = await earlier_briefs(app, one.participant_id) if history else []
            print_lines([f"earlier  {showing.brief(each)}" for each in earlier], empty="")
            return
        request = BriefRequested.model_validate({"participant_id": one.participant_id, **given})
        became = await change_brief(app, request)
        console.print(plain(showing.decided(became)))
        if became.refused:
            raise typer.Exit(1)

    of_person(context, who, run)


def _read(name: str) -> str:
    try:
        return sys.stdin.read() if name == STANDARD_INPUT else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"--from: {name} cannot be read as UTF-8 text: {error}") from None


def _given(text: str, by: str) -> dict[str, str]:
    from services.web.bodies import NewBrief

    try:
        body = NewBrief.model_validate({"text": text, "by": by})
    except ValidationError as error:
        raise typer.BadParameter("; ".join(plain_words(one["msg"]) for one in error.errors())) from None
    return {"op": "edit", **body.model_dump()}


# `correspondent memory periods`: a person's days to years as a model told them, with the rows behind each sentence.
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
