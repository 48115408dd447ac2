"""`correspondent memory`: what is known of a person, where it is from, and changes to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from schemas.events.memory import FactRequested
from schemas.model_output import FIRST_DAY, LAST_DAY, is_plausible
from services.cli.memory import view as showing
from services.cli.memory.briefs import brief, periods
from services.cli.memory.graph import graph
from services.cli.memory.lifecycles import lifecycle, move
from services.cli.memory.merges import merge, unmerge
from services.cli.memory.person import Who, ask_about, of_person, print_lines
from services.cli.memory.restoring import Moment, restore, restore_everybody
from services.cli.memory.statistics import stats
from services.cli.requests import By, in_house
from services.cli.terminal import After, Limit, console, plain, show_next
from services.core.app import App
from services.operations.fact_uses import uses_of
from services.operations.memory.facts import current, history, refusals, with_provenance
from services.operations.memory.past import as_of as facts_as_of
from services.operations.memory.people import Person, list_people, same_person
from services.operations.memory.relationship import relationship

typer_app = typer.Typer(no_args_is_help=True, help="Show what is known about a person, and change it.")
Until = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it is so.")]
typer_app.command("lifecycle")(lifecycle)
typer_app.command("move")(move)
typer_app.command("merge")(merge)
typer_app.command("unmerge")(unmerge)
typer_app.command("brief")(brief)
typer_app.command("graph")(graph)
typer_app.command("stats")(stats)
typer_app.command("periods")(periods)
typer_app.command("restore")(restore)
typer_app.command("restore-all")(restore_everybody)
FactId = Annotated[UUID, typer.Argument(help="The fact's id, as `show` prints it.")]


@typer_app.command()
def people(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List the people who have written to us, the latest first."""

    async def run(app: App) -> None:
        async with app.database.reading() as conn:
            found = await list_people(conn, app.settings.workspace, limit=limit, after=after)
        console.print(_people_table(found) if found else "Nobody has written yet. `correspondent write` sends a mail.")
        show_next(found)

    in_house(context, run)


def _people_table(found: Sequence[Person]) -> Table:
    """People in 80 columns, with spaces where there are any: an address is typed as it is shown, and is never cut."""
    spaces = any(one.space for one in found)
    table = Table(box=None, padding=(0, 1))
    for heading in ("last mail", "person", *(["space"] if spaces else []), "lifecycle", "mood", "risk", "about"):
        table.add_column(heading, no_wrap=heading in {"last mail", "person"})
    for one in found:
        who = Text.assemble(plain(one.name), "\n", plain(one.addr, "dim")) if one.name else plain(one.addr)
        space = [plain(one.space or "default")] if spaces else []
        mood, about = f"{one.sentiment:+.2f}", plain(", ".join(one.tags))
        table.add_row(f"{one.last_seen_at:%Y-%m-%d}", who, *space, plain(one.state), mood, plain(one.risk), about)
    return table


@typer_app.command()
def show(context: typer.Context, who: Who) -> None:
    """Show a person: lifecycle, issues, and facts with their sources."""

    async def run(app: App, one: Person) -> None:
        async with app.database.reading() as conn:
            facts = await current(conn, app.settings.workspace, one.participant_id, app.now())
            entries = await with_provenance(conn, app.settings.workspace, one.participant_id, facts)
            found = await relationship(conn, app.settings.workspace, one)
            uses = await uses_of(conn, [one.fact.fact_id for one in entries])
            others = await same_person(conn, app.settings.workspace, one.participant_id)
        also = [f"also  {showing.person(other)}" for other in others]
        print_lines([showing.person(one), *also, *map(showing.issue, found.issues)])
        print_lines(showing.entry(entry, app.now(), uses.get(entry.fact.fact_id)) for entry in entries)

    of_person(context, who, run)


@typer_app.command()
def search(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="[WHO] TEXT", help="The person, and what to look for in your own words.")
    ],
    limit: Annotated[int, typer.Option(help="The best so many.")] = 10,
    said: Annotated[bool, typer.Option("--said", help="Search messages and summaries instead of facts.")] = False,
    everybody: Annotated[bool, typer.Option("--everybody", help="Search the whole workspace; name nobody.")] = False,
) -> None:
    """Search facts, or what was said, by meaning, as the agent does."""
    if len(words) != 2 - everybody:
        raise typer.BadParameter("give a person and a text, or --everybody and a text; quote a text of several words")
    text = words[-1]

    async def of_everybody(app: App) -> None:
        from services.operations.memory.search import find_everywhere, find_said

        if said:
            heard = await find_said(app, None, text, now=app.now(), limit=limit)
            print_lines(map(showing.said, heard.said))
        else:
            print_lines(map(showing.hit_of, await find_everywhere(app, text, now=app.now(), limit=limit)))

    async def of_one(app: App, one: Person) -> None:
        from services.memory.recall import in_words
        from services.operations.memory.search import find, find_said

        if said:
            heard = await find_said(app, one.participant_id, text, now=app.now(), limit=limit)
            above = [heard.heading] if heard.said else []
            print_lines([*above, *map(showing.said, heard.said)], empty="Nothing was said.")
        else:
            answer = await find(app, one.participant_id, text, now=app.now(), limit=limit)
            print_lines([in_words(answer.recall, bool(answer.hits)), *map(showing.hit, answer.hits)])

    in_house(context, of_everybody) if everybody else of_person(context, words[0], of_one)


@typer_app.command("history")
def history_of(
    context: typer.Context, who: Who, key: Annotated[str, typer.Option(help="Only this key, such as `plan`.")] = ""
) -> None:
    """Show every fact ever recorded, and what was refused."""

    async def run(app: App, one: Person) -> None:
        async with app.database.reading() as conn:
            entries = await history(conn, app.settings.workspace, one.participant_id, app.now(), key=key)
            refused = [] if key else await refusals(conn, app.settings.workspace, one.participant_id)
        print_lines(showing.entry(entry, app.now()) for entry in entries)
        print_lines((showing.refusal(row) for row in refused), empty="")

    of_person(context, who, run)


@typer_app.command("as-of")
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

    async def run(app: App, one: Person) -> None:
        known = known_at.replace(tzinfo=UTC) if known_at else app.now()
        async with app.database.reading() as conn:
            facts = await facts_as_of(
                conn,
                app.settings.workspace,
                one.participant_id,
                valid_at=at.replace(tzinfo=UTC),
                known_at=known,
                rules=app.settings.learning.confidence,
            )
        print_lines(showing.line(fact, at.replace(tzinfo=UTC)) for fact in facts)

    of_person(context, who, run)


@typer_app.command()
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


@typer_app.command()
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


@typer_app.command()
def pin(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Pin a fact: it does not fade with time."""
    _wish(context, who, "pin", by, fact_id=fact_id)


@typer_app.command()
def unpin(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Let a pinned fact fade again."""
    _wish(context, who, "unpin", by, fact_id=fact_id)


@typer_app.command()
def forget(context: typer.Context, who: Who, fact_id: FactId, by: By = "operator") -> None:
    """Retract a fact; older mails cannot restore it."""
    _wish(context, who, "forget", by, fact_id=fact_id)


def _day(until: datetime | None) -> date | None:
    if until and not is_plausible(until.date()):
        raise typer.BadParameter(f"--until: a day from {FIRST_DAY} to {LAST_DAY}; leave it out for what never ends")
    return until.date() if until else None


def _wish(context: typer.Context, who: str, op: str, by: str, **given: Any) -> None:
    async def run(app: App, one: Person) -> None:
        request = FactRequested.model_validate({"participant_id": one.participant_id, "op": op, "by": by, **given})
        await ask_about(app, request)

    of_person(context, who, run)
