"""`correspondent memory`: what is known of a person, where it is from, and changes to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from schemas.events.memory import FactRequested
from schemas.model_output import FIRST_DAY, LAST_DAY, is_plausible
from services.console.memory.merging import same_person
from services.console.memory.past import as_of as facts_as_of
from services.console.memory.people import Person, list_people
from services.console.memory.reading import current, history, refusals, with_provenance
from services.console.memory.standing import standing
from services.core.house import House
from services.tools.commands.memory_merging import merge, unmerge
from services.tools.commands.memory_standing import lifecycle, move
from services.tools.commands.paging import After, Limit, show_next
from services.tools.commands.person import Who, ask_about, of_person, print_lines
from services.tools.commands.terminal import console, plain
from services.tools.commands.wishing import By, in_house
from services.tools.memory import show as showing

app = typer.Typer(no_args_is_help=True, help="Show what is known about a person, and change it.")
Until = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it is so.")]
app.command("lifecycle")(lifecycle)
app.command("move")(move)
app.command("merge")(merge)
app.command("unmerge")(unmerge)
FactId = Annotated[UUID, typer.Argument(help="The fact's id, as `show` prints it.")]
Moment = Annotated[datetime, typer.Argument(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="A day or a minute, UTC.")]


@app.command()
def people(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List the people who have written to us, the latest first."""

    async def run(house: House) -> None:
        async with house.database.reading() as conn:
            found = await list_people(conn, house.settings.workspace, limit=limit, after=after)
        console.print(_people_table(found) if found else "Nobody has written yet. `correspondent write` sends a mail.")
        show_next(found)

    in_house(context, run)


def _people_table(found: Iterable[Person]) -> Table:
    table = Table(box=None, padding=(0, 1))
    for heading in ("last mail", "person", "lifecycle", "mood", "risk", "about"):
        table.add_column(heading, no_wrap=heading == "last mail")
    for one in found:
        who = Text.assemble(plain(one.name), "\n", plain(one.addr, "dim")) if one.name else plain(one.addr)
        last, mood = f"{one.last_seen_at:%Y-%m-%d %H:%M}", f"{one.sentiment:+.2f}"
        table.add_row(last, who, plain(one.state), mood, plain(one.risk), plain(", ".join(one.tags)))
    return table


@app.command()
def show(context: typer.Context, who: Who) -> None:
    """Show a person: lifecycle, issues, and facts with their sources."""

    async def run(house: House, one: Person) -> None:
        async with house.database.reading() as conn:
            facts = await current(conn, house.settings.workspace, one.participant_id, house.now())
            entries = await with_provenance(conn, house.settings.workspace, one.participant_id, facts)
            found = await standing(conn, house.settings.workspace, one)
            others = await same_person(conn, house.settings.workspace, one.participant_id)
        also = [f"also  {showing.person(other)}" for other in others]
        print_lines([showing.person(one), *also, *map(showing.issue, found.issues)])
        print_lines(showing.entry(entry, house.now()) for entry in entries)

    of_person(context, who, run)


@app.command()
def search(
    context: typer.Context,
    who: Who,
    text: Annotated[str, typer.Argument(help="What to look for, in your own words.")],
    limit: Annotated[int, typer.Option(help="The best so many.")] = 10,
) -> None:
    """Search facts by meaning, as the agent does."""

    async def run(house: House, one: Person) -> None:
        from services.console.memory.finding import find
        from services.core.memory.recall import in_words

        answer = await find(house, one.participant_id, text, now=house.now(), limit=limit)
        print_lines([in_words(answer.recall), *map(showing.hit, answer.hits)])

    of_person(context, who, run)


@app.command("history")
def history_of(
    context: typer.Context, who: Who, key: Annotated[str, typer.Option(help="Only this key, such as `plan`.")] = ""
) -> None:
    """Show every fact ever recorded, and what was refused."""

    async def run(house: House, one: Person) -> None:
        async with house.database.reading() as conn:
            entries = await history(conn, house.settings.workspace, one.participant_id, house.now(), key=key)
            refused = [] if key else await refusals(conn, house.settings.workspace, one.participant_id)
        print_lines(showing.entry(entry, house.now()) for entry in entries)
        print_lines((showing.refusal(row) for row in refused), empty="")

    of_person(context, who, run)


@app.command("as-of")
def as_of(
    context: typer.Context,
    who: Who,
    at: Moment,
    known_at: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="As it was known then; by default as known now."),
    ] = None,
) -> None:
    """Show what was true at a time, as known now or at another time."""

    async def run(house: House, one: Person) -> None:
        known = known_at.replace(tzinfo=UTC) if known_at else house.now()
        async with house.database.reading() as conn:
            facts = await facts_as_of(
                conn,
                house.settings.workspace,
                one.participant_id,
                valid_at=at.replace(tzinfo=UTC),
                known_at=known,
                rules=house.settings.learning.confidence,
            )
        print_lines(showing.line(fact, at.replace(tzinfo=UTC)) for fact in facts)

    of_person(context, who, run)


@app.command()
def add(
    context: typer.Context,
    who: Who,
    key: Annotated[str, typer.Argument(help="What the value is of, such as `plan`.")],
    value: Annotated[str, typer.Argument(help="The value.")],
    kind: Annotated[
        str, typer.Option(help="The kind of fact; by default that of the current fact of this key, else `note`.")
    ] = "",
    text: Annotated[str, typer.Option(help="The fact as a sentence; by default `key: value`.")] = "",
    until: Until = None,
    derived_from: Annotated[
        list[UUID] | None, typer.Option(help="A fact that it follows from; may be repeated.")
    ] = None,
    by: By = "operator",
) -> None:
    """Add a fact; a person is believed before every mail."""
    given = {"kind": kind, "key": key, "value": value, "text": text}
    _wish(context, who, "add", by, parents=tuple(derived_from or ()), valid_to=_day(until), **given)


@app.command()
def correct(
    context: typer.Context,
    who: Who,
    fact_id: FactId,
    value: Annotated[str, typer.Argument(help="The right value.")],
    text: Annotated[str, typer.Option(help="The right sentence; by default the old one with the new value.")] = "",
    until: Until = None,
    by: By = "operator",
) -> None:
    """Correct a fact: the wrong value was never true.

    Its end, its pin and what it follows from stay as they were.
    """
    _wish(context, who, "correct", by, fact_id=fact_id, value=value, text=text, valid_to=_day(until))


@app.command()
def pin(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Pin a fact: it does not fade with time."""
    _wish(context, who, "pin", by, fact_id=fact_id)


@app.command()
def unpin(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Let a pinned fact fade again."""
    _wish(context, who, "unpin", by, fact_id=fact_id)


@app.command()
def forget(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Retract a fact; older mails cannot restore it."""
    _wish(context, who, "forget", by, fact_id=fact_id)


def _day(until: datetime | None) -> date | None:
    if until and not is_plausible(until.date()):
        raise typer.BadParameter(f"--until: a day from {FIRST_DAY} to {LAST_DAY}; leave it out for what never ends")
    return until.date() if until else None


def _wish(context: typer.Context, who: str, op: str, by: str, **given: Any) -> None:
    async def run(house: House, one: Person) -> None:
        wish = FactRequested.model_validate({"participant_id": one.participant_id, "op": op, "by": by, **given})
        await ask_about(house, wish)

    of_person(context, who, run)
