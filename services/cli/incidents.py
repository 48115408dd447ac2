"""`correspondent incidents`: issues that several customers report, closing and reopening one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from services.cli.terminal import After, Limit, Terminal, cell, minute, show_next
from services.operations.deployment import app_here
from services.operations.ids import whole_id
from services.operations.incidents import AnswerRefused, IncidentLine, WholeIncident, change, found, list_incidents
from services.operations.requests import WAIT_S

console = Terminal(highlight=False)
NONE_FOUND = "There is no incident."
NONE_OPENED = "No incident is opened while `customers` under [incidents] is 0."

typer_app = typer.Typer(no_args_is_help=True, help="List issues that several customers report.")

Id = Annotated[str, typer.Argument(metavar="INCIDENT", help="The incident's id, or the beginning of it.")]
Reason = Annotated[str, typer.Option(help="Why, for the log.")]
By = Annotated[str, typer.Option(help="Who says so, for the log.")]


@typer_app.command("list")
def listed(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List incidents, the newest first."""
    asyncio.run(_listed(context.obj, limit, after))


@typer_app.command("show")
def show(context: typer.Context, incident: Id) -> None:
    """Show an incident: who reported it, and the answer to each."""
    asyncio.run(_show(context.obj, incident))


@typer_app.command("close")
def close(
    context: typer.Context,
    incident: Id,
    answer: Annotated[str, typer.Option(help="What to tell who reported it: a draft for each, to be approved.")] = "",
    reason: Reason = "",
    by: By = "operator",
) -> None:
    """Close an incident, and draft an answer to who reported it."""
    asyncio.run(_change(context.obj, incident, "close", answer, reason, by))


@typer_app.command("reopen")
def reopen(context: typer.Context, incident: Id, reason: Reason = "", by: By = "operator") -> None:
    """Say that an incident is not over."""
    asyncio.run(_change(context.obj, incident, "reopen", "", reason, by))


async def _listed(home: Path, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        page = await list_incidents(conn, app.settings, limit=limit, after=after)
        opens = any(app.settings.incidents_of(one.name).customers for one in app.settings.inboxes)
    console.print(table_of(page) if page else NONE_FOUND)
    if not opens:
        console.print(cell(NONE_OPENED), style="dim")
    show_next(page)


def table_of(found: Sequence[IncidentLine]) -> Table:
    """An incident a row."""
    table = Table(box=None, pad_edge=False)
    for head in ("since", "incident", "inbox", "", "customers", "reports", "what several of them say"):
        table.add_column(head)
    for one in found:
        words = one.words or "(each in other words)"
        numbers = (str(one.customers), str(one.reports))
        state = "open" if one.is_open else "closed"
        table.add_row(*map(cell, (minute(one.since), str(one.incident_id)[:8], one.inbox, state, *numbers, words)))
    return table


async def _show(home: Path, typed: str) -> None:
    async with app_here(home, publishes=False) as app:
        print_whole(await found(app, await whole_id(app, typed, "incident")))


async def _change(home: Path, typed: str, op: Literal["close", "reopen"], answer: str, reason: str, by: str) -> None:
    async with app_here(home) as app:
        incident_id = await whole_id(app, typed, "incident")
        try:
            whole = await change(app, incident_id, op, answer=answer, reason=reason, by=by, timeout_s=WAIT_S)
        except AnswerRefused as error:
            raise typer.BadParameter(str(error)) from None
    print_whole(whole)


def print_whole(whole: WholeIncident) -> None:
    """An incident, and who reported it."""
    one = whole.incident
    console.print(table_of([one]))
    if one.changed_by or one.reason:
        console.print(cell(f"{minute(one.changed_at)} {one.changed_by}: {one.reason}".rstrip(": ")))
    if one.answer:
        console.print(cell(f"Answer: {one.answer}"))
    table = Table(box=None, pad_edge=False)
    for head in ("reported", "thread", "customer", "issue", "answer"):
        table.add_column(head)
    for report in whole.reported:
        became = ": ".join(filter(None, (report.answer, report.detail)))
        thread = str(report.thread_id)[:8]
        table.add_row(*map(cell, (minute(report.said_at), thread, report.customer, report.trouble, became)))
    console.print(table)
    if any(report.answer == "draft" for report in whole.reported):
        console.print("`correspondent drafts` shows the drafts; each leaves once a person approves it.")
