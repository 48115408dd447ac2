"""`correspondent patterns`: what people make of drafts, and which intents need no person any more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import Terminal, cell, minute
from services.operations.deployment import app_here
from services.operations.patterns import Pattern, PatternUnknown, change, patterns
from services.operations.requests import WAIT_S

OUTCOMES = ("unchanged", "edited", "rejected", "answered_by_hand", "reopened", "held")

NOBODY = "Nobody has decided on a draft yet: under `review`, each approval and rejection is counted here."

typer_app = typer.Typer(invoke_without_command=True, help="Show what people make of drafts, by intent.")
console = Terminal(highlight=False)

Inbox = Annotated[str, typer.Argument(help="The name of the inbox.")]
IntentName = Annotated[str, typer.Argument(help="The intent, as `correspondent patterns` shows it.")]
Reason = Annotated[str, typer.Option(help="Why, for the log.")]
By = Annotated[str, typer.Option(help="Who decides, for the log.")]


@typer_app.callback()
def listed(context: typer.Context) -> None:
    """Show what people make of drafts, by inbox and intent, and how far each intent is from needing no person."""
    if context.invoked_subcommand is None:
        asyncio.run(_listed(context.obj))


@typer_app.command("open")
def open_intent(
    context: typer.Context, inbox: Inbox, intent: IntentName, reason: Reason = "", by: By = "operator"
) -> None:
    """Let drafts of an intent leave without a person, where no floor and no low score holds them."""
    asyncio.run(_change(context.obj, inbox, intent, True, by, reason))


@typer_app.command("close")
def close_intent(
    context: typer.Context, inbox: Inbox, intent: IntentName, reason: Reason = "", by: By = "operator"
) -> None:
    """Have a person approve drafts of an intent again."""
    asyncio.run(_change(context.obj, inbox, intent, False, by, reason))


async def _listed(home: Path) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        settings = app.settings.approval
        found = await patterns(conn, app.settings.workspace, settings)
    console.print(table_of(found, earn=settings.earn) if found else cell(NOBODY))
    if not settings.earn:
        console.print(cell("Nothing is earned while `earn` under [approval] is false."), style="dim")


def table_of(found: Sequence[Pattern], *, earn: bool) -> Table:
    """An intent a row: how it stands, how far it is, how often each outcome came, the last step with its numbers."""
    table = Table(box=None, pad_edge=False)
    for head in ("inbox", "intent", "approval", "earned", "outcomes", "last step"):
        table.add_column(head, no_wrap=head in {"inbox", "intent", "approval"})
    for one in found:
        counts = ((one.seen[kind].occurrences, kind.replace("_", " ")) for kind in OUTCOMES if kind in one.seen)
        outcomes = ", ".join(f"{times} {kind}" for times, kind in counts)
        step = f"{minute(one.changed_at)} {one.reason}" if one.changed_at else ""
        state = ("open" if earn else "open, not in force") if one.is_open else "closed"
        table.add_row(*map(cell, (one.inbox, one.intent, state, _earned(one), outcomes, step)))
    return table


def _earned(one: Pattern) -> str:
    """How far it is: `7 of 10 earned (bound 0.65)`."""
    whole = one.unchanged if one.is_open or one.needed is None else one.unchanged + one.needed
    return f"{one.unchanged} of {max(whole, one.of)} earned (bound {one.bound:.2f})"


async def _change(home: Path, inbox: str, intent: str, is_open: bool, by: str, reason: str) -> None:
    async with app_here(home) as app:
        try:
            found = await change(app, inbox, intent, is_open=is_open, by=by, reason=reason, timeout_s=WAIT_S)
        except PatternUnknown as error:
            raise typer.BadParameter(str(error)) from None
    console.print(cell(f"{found.inbox} {found.intent}: {'open' if found.is_open else 'closed'}"))
