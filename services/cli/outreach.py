"""`correspondent outreach`: what came of mail that we began, and who gets no more of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.terminal import Terminal, cell, minute
from services.core.ids import participant_ids
from services.core.mailbox import MailboxKey
from services.operations.deployment import app_here
from services.operations.outreach import RuleLine, by_person, outreach_by_rule
from services.operations.requests import WAIT_S

NOTHING = "No mail was proposed so far."
NO_RULE = "There is no rule under [[reach_out.rules]]."
HEADS = ("inbox", "rule", "proposed", "waiting", "not sent", "sent", "answered", "unsubscribed", "bounced", "last")
console = Terminal(highlight=False)

typer_app = typer.Typer(no_args_is_help=True, help="Show what came of mail that we began.")

Address = Annotated[str, typer.Argument(help="The address of a person who wrote to us.")]
By = Annotated[str, typer.Option(help="Who says so, for the log.")]


@typer_app.command("show")
def show(context: typer.Context) -> None:
    """Show what came of it, by inbox and rule."""
    asyncio.run(_show(context.obj))


@typer_app.command("unsubscribe")
def unsubscribe(context: typer.Context, address: Address, by: By = "operator") -> None:
    """Have a person get no more such mail."""
    asyncio.run(_change(context.obj, address, by, lifted=False))


@typer_app.command("subscribe")
def subscribe(context: typer.Context, address: Address, by: By = "operator") -> None:
    """Let a person get such mail again, because they ask for it."""
    asyncio.run(_change(context.obj, address, by, lifted=True))


async def _show(home: Path) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        found = await outreach_by_rule(conn, app.settings.workspace)
        rules = app.settings.reach_out.rules
    console.print(table_of(found) if found else NOTHING)
    if not rules:
        console.print(cell(NO_RULE), style="dim")


def table_of(found: Sequence[RuleLine]) -> Table:
    """A rule a row."""
    table = Table(box=None, pad_edge=False)
    for head in HEADS:
        table.add_column(head, no_wrap=head in {"inbox", "rule"}, overflow="fold")
    for one in found:
        numbers = (one.proposed, one.waiting, one.not_sent, one.sent, one.answered, one.unsubscribed, one.bounced)
        table.add_row(*map(cell, (one.inbox, one.rule, *numbers, minute(one.last_at))))
    return table


async def _change(home: Path, address: str, by: str, *, lifted: bool) -> None:
    async with app_here(home) as app:
        for who in participant_ids(app.settings.workspace, MailboxKey(address), app.settings.spaces):
            await by_person(app, who, lifted=lifted, by=by, timeout_s=WAIT_S)
    console.print(cell(f"{address} gets {'such mail again' if lifted else 'no more such mail'}."))
