"""`correspondent memory restore` and `restore-all`: facts as they were believed at a time, looked at first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from services.cli.memory import view as showing
from services.cli.memory.person import Who, of_person, print_lines
from services.cli.requests import By, in_house
from services.cli.terminal import console, plain
from services.cli.waiting import progress_bar
from services.core.app import App
from services.operations.memory.people import Person, how_many
from services.operations.memory.restoring import difference, differences, restore_all
from services.operations.memory.restoring import restore as bring_back

Moment = Annotated[datetime, typer.Argument(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="A day or a minute, UTC.")]
Go = Annotated[bool, typer.Option("--run", help="Do it; without it nothing changes.")]
UNCHANGED = "Nothing has changed since."


def restore(context: typer.Context, who: Who, at: Moment, go: Go = False, by: By = "operator") -> None:
    """Show which facts came and went since a time; with --run, bring back those of then.

    What came since is taken back and what went is added again, as a person would. Exit 1 where one was refused.
    """

    async def run(app: App, one: Person) -> None:
        moment = at.replace(tzinfo=UTC)
        if not go:
            found = await difference(app, one.participant_id, moment)
            came = [f"came since:  {showing.line(fact, app.now())}" for fact in found.came]
            gone = [f"gone since:  {showing.line(fact, moment)}" for fact in found.gone]
            print_lines([*came, *gone], empty=UNCHANGED)
            return
        decided = [each async for each in bring_back(app, one.participant_id, moment, by=by)]
        print_lines(map(showing.decided, decided), empty=UNCHANGED)
        if any(each.refused for each in decided):
            raise typer.Exit(1)

    of_person(context, who, run)


def restore_everybody(
    context: typer.Context,
    at: Moment,
    space: Annotated[
        str | None, typer.Option(help='Only people of this space of memory; "" is the shared one.')
    ] = None,
    go: Go = False,
    by: By = "operator",
) -> None:
    """Show whose facts came and went since a time; with --run, bring everybody back, one after the other.

    Cut short, the same command goes on where it was. Exit 1 where something was refused.
    """

    async def run(app: App) -> None:
        if space is not None and space not in app.settings.spaces:
            raise typer.BadParameter(f"no inbox has the space of memory {space!r}")
        moment, most = at.replace(tzinfo=UTC), await how_many(app, space)
        changed, refused = await (_done if go else _looked_at)(app, moment, space, most, by)
        ended = "brought back" if go else "would be brought back"
        console.print(f"{changed} of {most} people {ended}." if changed else UNCHANGED)
        if refused:
            raise typer.Exit(1)

    in_house(context, run)


async def _looked_at(app: App, moment: datetime, space: str | None, most: int, by: str) -> tuple[int, bool]:
    """Whose facts changed, as lines; how many people that are."""
    changed = 0
    with progress_bar() as bar:
        task = bar.add_task("people", total=most)
        async for one, found in differences(app, moment, space):
            bar.advance(task)
            if found.came or found.gone:
                changed += 1
                console.print(plain(f"{showing.person(one)}: {len(found.came)} came, {len(found.gone)} gone since"))
    return changed, False


async def _done(app: App, moment: datetime, space: str | None, most: int, by: str) -> tuple[int, bool]:
    """What became of each person's facts, as lines; how many people changed, and whether anything was refused."""
    changed, refused = 0, False
    with progress_bar() as bar:
        task = bar.add_task("people", total=most)
        async for one, decided in restore_all(app, moment, space, by=by):
            bar.advance(task)
            refused = refused or any(each.refused for each in decided)
            if decided:
                changed += 1
                print_lines([showing.person(one), *(f"  {showing.decided(each)}" for each in decided)])
    return changed, refused
