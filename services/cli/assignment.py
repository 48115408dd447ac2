"""`correspondent take`, `hand-back`, `assign` and `snooze`: who has a thread, and until when nobody looks at it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from schemas.events.answers import AssignmentRequested, SnoozeRequested
from services.cli.terminal import console, plain
from services.cli.threads import By, Reason, ThreadId
from services.cli.threads.view import line
from services.core.app import App
from services.operations.deployment import app_here
from services.operations.ids import whole_id
from services.operations.requests import WAIT_S
from services.operations.threads import requests
from services.operations.threads.answers import assign as ask_to_assign
from services.operations.threads.listing import whole_thread
from services.operations.threads.moments import MomentUnknown, moment_of

LONGEST_NAME = 100  # characters


def take(
    context: typer.Context,
    thread_id: ThreadId,
    by: Annotated[str, typer.Option(help="Who takes it.")] = "operator",
    reason: Reason = "",
) -> None:
    """Take a thread over: the agent writes nothing in it.

    A draft of the agent is given up. `correspondent hand-back` gives the thread back.
    """

    async def ask(app: App, whole: UUID) -> None:
        asked = AssignmentRequested(thread_id=whole, assignee=_name(by), take_over=True, reason=reason, by=by)
        await ask_to_assign(app, asked, timeout_s=WAIT_S)

    _change(context.obj, thread_id, ask)


def hand_back(context: typer.Context, thread_id: ThreadId, reason: Reason = "", by: By = "operator") -> None:
    """Hand a thread back to the agent.

    What waits in it is answered; where nothing does, it waits for the customer.
    """

    async def ask(app: App, whole: UUID) -> None:
        made = await requests.move(app, whole, "in_progress", reason or "handed back", by, timeout_s=WAIT_S)
        if made.refused:
            console.print(plain(f"Refused: {made.refused}"))
            raise typer.Exit(1)

    _change(context.obj, thread_id, ask)


def assign(
    context: typer.Context,
    thread_id: ThreadId,
    name: Annotated[str, typer.Argument(help="Who is to have it; without a name, nobody.")] = "",
    reason: Reason = "",
    by: By = "operator",
) -> None:
    """Say who has a thread.

    The agent goes on writing in it, unless somebody takes it over.
    """

    async def ask(app: App, whole: UUID) -> None:
        asked = AssignmentRequested(thread_id=whole, assignee=_name(name, least=0), reason=reason, by=by)
        await ask_to_assign(app, asked, timeout_s=WAIT_S)

    _change(context.obj, thread_id, ask)


def snooze(
    context: typer.Context,
    thread_id: ThreadId,
    until: Annotated[str, typer.Argument(help="3h, 2d, tomorrow, mon, 2026-12-01 or 2026-12-01T14:00.")] = "",
    reason: Reason = "",
    by: By = "operator",
) -> None:
    """Take a thread off the lists until a moment.

    A mail of the customer's or an escalation ends it sooner; without a moment it is on the lists again.
    """

    async def ask(app: App, whole: UUID) -> None:
        at = moment_of(until, app.now(), app.settings.office_hours) if until else None
        asked = SnoozeRequested(thread_id=whole, until=at, reason=reason, by=by)
        await requests.snooze(app, asked, timeout_s=WAIT_S)

    try:
        _change(context.obj, thread_id, ask)
    except MomentUnknown as error:
        raise typer.BadParameter(str(error)) from None
    except requests.SnoozeRefused as error:
        console.print(plain(f"Refused: {error}"))
        raise typer.Exit(1) from None


def _change(home: Path, typed: str, ask: Callable[[App, UUID], Awaitable[None]]) -> None:
    """Ask, and show the thread as it is then."""

    async def run() -> None:
        async with app_here(home) as app:
            whole = await whole_id(app, typed, "thread")
            await ask(app, whole)
            async with app.database.reading() as conn:
                console.print(line((await whole_thread(conn, app.settings.workspace, whole)).thread))

    asyncio.run(run())


def _name(typed: str, least: int = 1) -> str:
    name = typed.strip()
    if not least <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise typer.BadParameter(f"a name is one line of {least} to {LONGEST_NAME} characters")
    return name
