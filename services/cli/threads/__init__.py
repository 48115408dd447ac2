"""`correspondent thread`, `threads`, `due`, `move`, `mark`: threads, what is due, and what one may ask of a thread."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from schemas.events.marks import Tag
from services.cli.terminal import After, Limit, console, plain, show_next
from services.cli.threads import view as showing
from services.core.archive.archive import archive_of
from services.core.paging import Page
from services.operations.deployment import app_here
from services.operations.ids import whole_id
from services.operations.requests import WAIT_S
from services.operations.threads import requests
from services.operations.threads.listing import due_next, list_threads, whole_thread

ThreadId = Annotated[str, typer.Argument(help="The thread's id, or its beginning, as `correspondent mails` shows it.")]
By = Annotated[str, typer.Option(help="Who asks, for the log.")]
Reason = Annotated[str, typer.Option(help="Why, for the log.")]


class State(StrEnum):
    """The states of a thread."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    AWAITING_REPLY = "awaiting_reply"
    ESCALATED = "escalated"
    RESOLVED = "resolved"
    CLOSED = "closed"


class Urgency(StrEnum):
    """The priorities of a thread."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


def thread(context: typer.Context, thread_id: ThreadId, limit: Limit = 200, after: After = "") -> None:
    """Show a thread: state, summary, goals, conversation, log.

    Of a long conversation the newest messages, with the log next to them.
    """

    async def run(home: Path) -> None:
        async with app_here(home, publishes=False) as app:
            whole = await whole_id(app, thread_id, "thread")
            async with app.database.reading() as conn:
                archive = archive_of(app.settings)
                workspace = app.settings.workspace
                found = await whole_thread(conn, workspace, whole, archive=archive, limit=limit, after=after)
            for line in showing.whole(found, app.now()):
                console.print(line)
            show_next(Page[None](cursor=found.earlier))

    asyncio.run(run(context.obj))


def threads(
    context: typer.Context,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    priority: Annotated[Urgency | None, typer.Option(help="Only those of this priority.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only those with this tag.")] = None,
    inbox: Annotated[str | None, typer.Option(help="Only those of this inbox.")] = None,
    limit: Limit = 50,
    after: After = "",
) -> None:
    """List threads, the latest change first."""

    async def run(home: Path) -> None:
        wanted = {"state": state, "priority": priority, "tag": tag, "inbox": inbox}
        async with app_here(home, publishes=False) as app, app.database.reading() as conn:
            found = await list_threads(conn, app.settings.workspace, limit=limit, after=after, **wanted)
            for one in found:
                console.print(showing.line(one))
            show_next(found)

    asyncio.run(run(context.obj))


def due(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List what is due next, overdue items first.

    Service levels are set in the settings.
    """

    async def run(home: Path) -> None:
        async with app_here(home, publishes=False) as app, app.database.reading() as conn:
            found = await due_next(conn, app.settings.workspace, limit=limit, after=after)
            for one in found:
                console.print(showing.due(one, app.now()))
            show_next(found)
        if not found:
            console.print("Nothing is due. Deadlines are promised under [service_levels].", markup=False)

    asyncio.run(run(context.obj))


def move(
    context: typer.Context,
    thread_id: ThreadId,
    to: Annotated[State, typer.Argument(help="Target state.")],
    reason: Reason = "",
    by: By = "operator",
) -> None:
    """Request one step of a thread's state machine.

    The step is made or refused, and logged either way.
    """

    async def run(home: Path) -> requests.Stepped:
        async with app_here(home) as app:
            whole = await whole_id(app, thread_id, "thread")
            return await requests.move(app, whole, to.value, reason, by, timeout_s=WAIT_S)

    made = asyncio.run(run(context.obj))
    if made.refused:
        console.print(plain(f"Refused: {made.refused}"))
        raise typer.Exit(1)
    console.print(f"{made.from_state} -> {made.to_state}")


def mark(
    context: typer.Context,
    thread_id: ThreadId,
    priority: Annotated[Urgency | None, typer.Option(help="Target priority.")] = None,
    tag: Annotated[list[str], typer.Option(help="A tag to put on; may be given again.")] = [],  # noqa: B006
    untag: Annotated[list[str], typer.Option(help="A tag to take off; may be given again.")] = [],  # noqa: B006
    goal: Annotated[list[str], typer.Option(help="A goal to add; may be given again.")] = [],  # noqa: B006
    reached: Annotated[list[str], typer.Option(help="A goal to close, by text or id; may be given again.")] = [],  # noqa: B006
    note: Annotated[str, typer.Option(help="A note for people; it is never sent.")] = "",
    reason: Reason = "",
    by: By = "operator",
) -> None:
    """Set a thread's priority, tags and goals, or leave a note."""
    given = {"priority": priority, "add_tags": _tags(tag), "remove_tags": _tags(untag), "note": note.strip()}
    given |= {"add_goals": _goals(goal), "close_goals": _goals(reached)}
    if not any(given.values()):
        raise typer.BadParameter("say --priority, --tag, --untag, --goal, --reached or --note")

    async def run(home: Path) -> None:
        async with app_here(home) as app:
            whole = await whole_id(app, thread_id, "thread")
            await requests.mark(app, whole, timeout_s=WAIT_S, reason=reason, by=by, **given)
            async with app.database.reading() as conn:
                console.print(showing.line((await whole_thread(conn, app.settings.workspace, whole)).thread))

    asyncio.run(run(context.obj))


def _goals(typed: list[str]) -> tuple[str, ...]:
    if not typed:
        return ()
    from services.web.bodies import Goals  # its models take a tenth of a second, which most commands do not need

    try:
        return TypeAdapter(Goals).validate_python(tuple(typed))
    except ValidationError:
        raise typer.BadParameter("a goal is one line of 1 to 300 characters, and at most 8 at a time") from None


def _tags(typed: list[str]) -> tuple[str, ...]:
    try:
        return TypeAdapter(tuple[Tag, ...]).validate_python(tuple(typed))
    except ValidationError:
        raise typer.BadParameter(
            "a tag is at most 40 of a-z, 0-9, _, : and -, and begins with a letter or digit"
        ) from None
