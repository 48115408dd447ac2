"""`correspondent investigate`: a hard case on files, what came of it, and what it proposes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import After, Limit, Terminal, cell, minute, show_next
from services.core.errors import Permanent
from services.model.usage import prompt_tokens
from services.operations.deployment import app_here
from services.operations.ids import whole_id
from services.operations.investigations.course import course_of, file_of
from services.operations.investigations.listing import (
    InvestigationLine,
    ProposalLine,
    WholeInvestigation,
    list_investigations,
)
from services.operations.investigations.requests import (
    DecidedBefore,
    InvestigationImpossible,
    decide,
    found,
    investigate,
    stop,
)
from services.operations.requests import WAIT_S

SHOWN = 200  # characters of why a call was refused
NONE_FOUND = "Nothing was investigated so far."
console = Terminal(highlight=False)


class NotRemembered(Permanent):
    """What was accepted was refused by what keeps the person's memory."""


typer_app = typer.Typer(no_args_is_help=True, help="Have a hard case investigated, on files.")

Id = Annotated[str, typer.Argument(metavar="INVESTIGATION", help="Its id, or the beginning of it.")]
ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="The proposal's id, or the beginning of it.")]
By = Annotated[str, typer.Option(help="Who says so, for the log.")]


@typer_app.command("start")
def start(
    context: typer.Context,
    thread: Annotated[str, typer.Argument(metavar="THREAD", help="The thread's id, or the beginning of it.")],
    question: Annotated[str, typer.Argument(help="What is to be found out.")],
    by: By = "operator",
) -> None:
    """Have the agent investigate; it goes on by itself."""
    asyncio.run(_start(context.obj, thread, question, by))


@typer_app.command("list")
def listed(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List investigations, the latest first."""
    asyncio.run(_listed(context.obj, limit, after))


@typer_app.command("show")
def show(context: typer.Context, investigation: Id) -> None:
    """Show an investigation: its note, its diff, and what it proposes."""
    asyncio.run(_show(context.obj, investigation))


@typer_app.command("rounds")
def rounds(context: typer.Context, investigation: Id) -> None:
    """Show how an investigation goes: its rounds, the files of its folder, what it cost."""
    asyncio.run(_rounds(context.obj, investigation))


@typer_app.command("file")
def file(
    context: typer.Context,
    investigation: Id,
    path: Annotated[str, typer.Argument(help="The file, such as memory/facts.md.")],
) -> None:
    """Print a file of an investigation's folder as its rounds left it."""
    asyncio.run(_file(context.obj, investigation, path))


@typer_app.command("stop")
def stopped(context: typer.Context, investigation: Id, by: By = "operator") -> None:
    """Have an investigation take no further round."""
    asyncio.run(_stop(context.obj, investigation, by))


@typer_app.command("accept")
def accept(context: typer.Context, proposal: ProposalId, by: By = "operator") -> None:
    """Accept a proposal: it becomes your own change of memory."""
    asyncio.run(_decide(context.obj, proposal, by, accept=True))


@typer_app.command("reject")
def reject(context: typer.Context, proposal: ProposalId, by: By = "operator") -> None:
    """Reject a proposal; nothing changes."""
    asyncio.run(_decide(context.obj, proposal, by, accept=False))


async def _start(home: Path, typed: str, question: str, by: str) -> None:
    async with app_here(home) as app:
        thread_id = await whole_id(app, typed, "thread")
        try:
            whole = await investigate(app, thread_id, question, by, timeout_s=WAIT_S)
        except InvestigationImpossible as error:
            raise typer.BadParameter(str(error)) from None
    id = str(whole.investigation.investigation_id)[:8]
    console.print(cell(f"Investigation {id} has begun; its note will stand on the thread."))
    console.print(cell(f"`correspondent investigate show {id}` shows it."))


async def _listed(home: Path, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        page = await list_investigations(conn, app.settings.workspace, limit=limit, after=after)
    console.print(table_of(page) if page else NONE_FOUND)
    show_next(page)


def table_of(lines: Sequence[InvestigationLine]) -> Table:
    """An investigation a row."""
    table = Table(box=None, pad_edge=False)
    for head in ("asked", "investigation", "thread", "customer", "", "rounds", "tokens", "proposals", "question"):
        table.add_column(head, no_wrap=head in {"investigation", "thread"}, overflow="fold")
    for one in lines:
        ids = (str(one.investigation_id)[:8], str(one.thread_id)[:8])
        state = one.outcome.replace("_", " ") or one.state
        numbers = (one.rounds, one.tokens_in + one.tokens_out, one.waiting)
        table.add_row(*map(cell, (minute(one.opened_at), *ids, one.customer or "", state, *numbers, one.question)))
    return table


async def _show(home: Path, typed: str) -> None:
    async with app_here(home, publishes=False) as app:
        print_whole(await found(app, await whole_id(app, typed, "investigation")))


async def _rounds(home: Path, typed: str) -> None:
    async with app_here(home, publishes=False) as app:
        how = await course_of(app, await whole_id(app, typed, "investigation"))
    for one in how.rounds:
        console.print(cell(f"round {one.number}, {minute(one.at) if one.at else ''}: {one.text}".rstrip(": ")))
        for call in one.calls:
            given = " ".join(f"{name}={' '.join(str(value).split())[:60]}" for name, value in call.given.items())
            console.print(cell(f"  {call.name} {given}".rstrip()))
            if call.refused:
                console.print(cell(f"    refused: {' '.join(call.answer.split())}", limit=SHOWN))
    for left in how.files:
        console.print(cell(f"{left.path}  {left.lines} lines  {left.change}".rstrip()))
    usage = how.usage
    taken_in = prompt_tokens(usage)
    console.print(cell(f"{usage.calls} calls, {taken_in} tokens in, {usage.output} out, {how.dollars:.2f} US dollars"))


async def _file(home: Path, typed: str, path: str) -> None:
    async with app_here(home, publishes=False) as app:
        found = await file_of(app, await whole_id(app, typed, "investigation"), path)
    _print_lines((found.text if found.text is not None else found.before) or "")


async def _stop(home: Path, typed: str, by: str) -> None:
    async with app_here(home) as app:
        print_whole(await stop(app, await whole_id(app, typed, "investigation"), by, timeout_s=WAIT_S))


def print_whole(whole: WholeInvestigation) -> None:
    """An investigation with all that came of it."""
    one = whole.investigation
    console.print(table_of([one]))
    if one.gone_at:
        console.print(cell(f"Its words had had their time on {minute(one.gone_at)}."))
    outputs = (f"{file.path}:\n{file.text}" for file in whole.outputs)
    for text in (whole.reason, whole.note, *outputs, whole.diff):
        if text:
            console.print()
            _print_lines(text)
    for path in whole.conflicts:
        console.print(cell(f"Conflict: {path} holds what two investigations wrote at once."))
    for why in whole.dropped:
        console.print(cell(f"Left out: {why}"))
    for proposal in whole.proposals:
        console.print()
        _print_proposal(proposal)


def _print_lines(text: str) -> None:
    for line in text.splitlines():
        console.print(cell(line))


def _print_proposal(one: ProposalLine) -> None:
    state = one.state if one.state == "waiting" else f"{one.state} by {one.decided_by}"
    what = "the brief" if one.op == "brief" else f"{one.kind}, {one.key} = {one.value}"
    console.print(cell(f"{str(one.proposal_id)[:8]}  {one.op} {what}  ({state})"))
    console.print(cell(one.text))
    if one.quote:
        console.print(cell(f"“{one.quote}” in «{one.subject}»"))


async def _decide(home: Path, typed: str, by: str, *, accept: bool) -> None:
    async with app_here(home) as app:
        proposal_id = await whole_id(app, typed, "proposal")
        try:
            settled = await decide(app, proposal_id, by, accept=accept, timeout_s=WAIT_S)
        except DecidedBefore as error:
            raise typer.BadParameter(str(error)) from None
    console.print(cell(f"The proposal is {settled.state}."))
    if settled.refused:
        raise NotRemembered(f"accepted, and not remembered: {settled.refused}")
