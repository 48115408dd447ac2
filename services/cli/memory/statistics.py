"""`correspondent memory stats`: what the memory holds, what was decided about it, what it was used for and cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.table import Table

from services.cli.requests import in_house
from services.cli.terminal import cell, console
from services.core.app import App
from services.model.usage import prompt_tokens
from services.operations.memory.statistics import (
    MOST_WEEKS,
    KindOfFacts,
    Spent,
    Statistics,
    ToldPeriods,
    Week,
    statistics,
)

EMPTY = "Nothing is remembered yet. `correspondent write` sends a mail, and its turn is learned from."
KIND_COLUMNS = ("stored", "current", "doubtful", "expired", "replaced", "merged", "withdrawn", "pinned")
PERIOD_COLUMNS = ("told", "empty", "sentences", "dropped", "rows left out")
SPENT_COLUMNS = ("inbox", "for", "calls", "tokens in", "tokens out", "US dollars")
VERDICTS = ("sure", "rings a bell", "nothing")
USED_COLUMNS = ("turns", "facts shown", "cited", *VERDICTS)


def stats(
    context: typer.Context,
    weeks: Annotated[int, typer.Option(help="So many weeks, this one among them.", min=1, max=MOST_WEEKS)] = 4,
) -> None:
    """Show what the memory holds, and week by week what was decided, used and spent; of nobody by name.

    What the model was shown and cost is read from the events of these weeks: minutes for a hundred thousand mails.
    """

    async def run(app: App) -> None:
        with console.status("Reading the events of these weeks"):
            found = await statistics(app, weeks)
        show(found)

    in_house(context, run)


def show(found: Statistics) -> None:
    """Print all of it, a table a subject; what nothing is known of is left out."""
    if not found.kinds and not found.spent:
        console.print(EMPTY)
    for one in _tables(found):
        if one.row_count:
            console.print(one)
            console.print()
    if found.set_aside:
        console.print(f"{found.set_aside:,} facts are in no prompt, since nothing asks for them (recall.unused_days).")
    if found.periods_left:
        console.print(f"{found.periods_left:,} periods wait for another day: condense.calls_a_day is reached.")


def _tables(found: Statistics) -> Iterable[Table]:
    decisions = sorted({name for week in found.weeks for name in week.decisions})
    yield table("facts", KIND_COLUMNS, _kinds(found.kinds))
    yield table("decided, week of", decisions, (_decided(one, decisions) for one in found.weeks if decisions))
    yield table("refused because", ("times",), ((why, f"{times:,}") for why, times in found.refusals.items()))
    yield table("used, week of", USED_COLUMNS, (_used(one) for one in found.weeks if one.turns))
    yield table("periods", PERIOD_COLUMNS, (_told(one) for one in found.periods))
    yield table("spent, week of", SPENT_COLUMNS, map(_spent, found.spent))


def table(first: str, columns: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table without lines, numbers to the right."""
    made = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    made.add_column(first, no_wrap=True)
    for column in columns:
        made.add_column(column, justify="left" if column in ("inbox", "for") else "right")
    for row in rows:
        made.add_row(*map(cell, row))
    return made


def _kinds(kinds: Sequence[KindOfFacts]) -> Iterable[Sequence[str]]:
    if not kinds:
        return
    for one in kinds:
        yield one.kind, *(_count(getattr(one, name)) for name in KIND_COLUMNS)
    yield "all", *(_count(sum(getattr(one, name) for one in kinds)) for name in KIND_COLUMNS)


def _decided(week: Week, decisions: Sequence[str]) -> Sequence[str]:
    return (f"{week.monday}", *(_count(week.decisions.get(name, 0)) for name in decisions))


def _used(week: Week) -> Sequence[str]:
    used = (week.turns, week.shown, week.cited, *(week.recalled[one] for one in VERDICTS))
    return (f"{week.monday}", *map(_count, used))


def _told(one: ToldPeriods) -> Sequence[str]:
    return one.grain, *(_count(getattr(one, name.replace(" ", "_"))) for name in PERIOD_COLUMNS)


def _spent(one: Spent) -> Sequence[str]:
    used = one.usage
    return (
        f"{one.monday}",
        one.inbox,
        one.purpose,
        f"{used.calls:,}",
        f"{prompt_tokens(used):,}",
        f"{used.output:,}",
        f"{one.dollars:,.2f}",
    )


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
