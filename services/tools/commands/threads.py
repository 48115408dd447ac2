"""`correspondent thread` and `correspondent move`: one thread, and a step of its state machine."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from schemas.events.threads import ThreadTransitionRequested
from services.console.knowledge.reading import SourceLine, sources_of
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.db import fetch_all, fetch_one, queries
from services.tools.commands.ids import whole_id
from services.tools.commands.terminal import console, plain, source_line
from services.tools.running import house_here
from services.tools.settle import settle

SQL = queries(__file__, "threads.sql")

ThreadId = Annotated[str, typer.Argument(help="The thread's id, or its beginning, as `correspondent mails` shows it.")]


class State(StrEnum):
    """The states of a thread."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    AWAITING_REPLY = "awaiting_reply"
    ESCALATED = "escalated"
    RESOLVED = "resolved"
    CLOSED = "closed"


def thread(context: typer.Context, thread_id: ThreadId) -> None:
    """Show a thread: its state, summary, goals, conversation and log."""
    home: Path = context.obj
    asyncio.run(_thread(home, thread_id))


def move(
    context: typer.Context,
    thread_id: ThreadId,
    to: Annotated[State, typer.Argument(help="The state that it shall have.")],
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who asks.")] = "operator",
) -> None:
    """Ask for one step of a thread's state machine. It is made or refused, and logged either way."""
    home: Path = context.obj
    asyncio.run(_move(home, thread_id, to.value, reason, by))


async def _move(home: Path, typed: str, to: str, reason: str, by: str) -> None:
    async with house_here(home) as house:
        thread_id = await whole_id(house, typed, "thread")
        asked = ThreadTransitionRequested.model_validate(
            {"thread_id": thread_id, "to_state": to, "trigger": "human", "reason": reason, "by": by}
        )
        envelope = first(asked, id=random_id(), source="console", time=house.now(), workspace=house.settings.workspace)
        await enter(house, envelope)
        await settle(house)
        async with house.database.reading() as conn:
            row = await fetch_one(conn, SQL.last_step, {"thread_id": thread_id, "cause": envelope.id})
    assert row is not None
    if row["refused"]:
        console.print(plain(f"Refused: {row['refused']}"))
        raise typer.Exit(1)
    console.print(f"{row['from_state']} -> {row['to_state']}")


async def _thread(home: Path, typed: str) -> None:
    async with house_here(home) as house:
        args = {"thread_id": await whole_id(house, typed, "thread")}
        async with house.database.reading() as conn:
            row = await fetch_one(conn, SQL.thread, args)
            parts = {name: await fetch_all(conn, getattr(SQL, name), args) for name in ("goals", "said", "log")}
            replies = [one["reply_id"] for one in parts["said"] if one["reply_id"]]
            sources = await sources_of(conn, house.settings.workspace, replies)
    assert row is not None
    _show(row, parts, sources)


def _show(row: dict[str, Any], parts: dict[str, list[dict[str, Any]]], sources: dict[UUID, list[SourceLine]]) -> None:
    about = f"  ({row['state']}, {row['inbox']}, since {row['opened_at']:%Y-%m-%d})"
    console.print(Text.assemble(plain(row["subject"], "bold"), about))
    console.print(f"thread {row['thread_id']}", style="dim")
    if row["summary"]:
        console.print(Text.assemble(("\nSummary\n", "bold"), plain(row["summary"])))
    for goal in parts["goals"]:
        reached = " (reached)" if goal["closed_at"] else ""
        console.print(Text.assemble(("\nGoal  ", "bold"), plain(goal["text"]), reached))
    for one in parts["said"]:
        console.print(Text.assemble((f"\n{one['at']:%Y-%m-%d %H:%M}  {one['role']}\n", "bold"), plain(one["text"])))
        for source in sources.get(one["reply_id"], ()):
            console.print(source_line(source))
    console.print("\n[b]Log[/b]")
    for step in parts["log"]:
        console.print(_logged(step))


def _logged(step: dict[str, Any]) -> Text:
    change = f"{step['at']:%Y-%m-%d %H:%M}  {step['from_state']} -> {step['to_state']}  "
    refused = plain(f"  REFUSED: {step['refused']}" if step["refused"] else "", "red")
    return Text.assemble(change, plain(f"{step['trigger']}: {step['reason']}", "dim"), refused)
