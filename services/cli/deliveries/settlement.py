"""`correspondent deliveries settle`: a person's word on a reply of which nobody knows whether it was sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import console, plain
from services.operations import deliveries
from services.operations.deployment import app_here
from services.operations.requests import WAIT_S


def settle(
    context: typer.Context,
    reply_id: Annotated[str, typer.Argument(help="The reply's id or its beginning, as `deliveries` shows it.")],
    sent: Annotated[bool, typer.Option("--sent/--failed", help="Whether it was sent.")],
    reason: Annotated[str, typer.Option(help="How you know, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who says so, for the log.")] = "operator",
) -> None:
    """Record what became of an unknown reply; it is never resent."""
    home: Path = context.obj
    asyncio.run(settle_reply(home, reply_id, sent=sent, reason=reason, by=by))


async def settle_reply(home: Path, typed: str, *, sent: bool, reason: str, by: str) -> None:
    """Give the word, and show what became of the reply. Raises what `deliveries.settle` does."""
    async with app_here(home) as app:
        row = await deliveries.settle(app, typed, sent=sent, reason=reason, by=by, timeout_s=WAIT_S)
    console.print(plain(f"{row['state']}. {row['detail']}"))
