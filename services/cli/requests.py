"""How commands about documents ask: the request goes on the log, and what learn_documents decided is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from schemas.events.documents import DocumentAsked
from services.cli.terminal import console, plain
from services.cli.waiting import still_at_work
from services.core.app import App
from services.operations.deployment import app_here
from services.operations.knowledge.requests import decided
from services.operations.requests import ask

T = TypeVar("T")

By = Annotated[str, typer.Option(help="Who asks, for the log.")]


def in_house(context: typer.Context, run: Callable[[App], Awaitable[T]]) -> T:
    """Run something in the deployment that the command talks to; only a request connects to the broker."""

    async def inside() -> T:
        home: Path = context.obj
        async with app_here(home, publishes=False) as app:
            return await run(app)

    return asyncio.run(inside())


async def request(app: App, asked: DocumentAsked, wait: float) -> None:
    """Ask, wait for the decision, and say it; exit code 1 where it was refused or did not come in time."""
    outcome = await decided(app, (await ask(app, asked)).id, wait)
    if outcome is None:
        console.print(still_at_work(1, wait))
        raise typer.Exit(1)
    for one in outcome:
        said = f": {one.detail}" if one.detail else "."
        console.print(plain(f"{one.decision.capitalize()}{said}"))
        if one.decision == "refused":
            raise typer.Exit(1)
    if not outcome:
        console.print("Nothing changed: it stands like this already.")
