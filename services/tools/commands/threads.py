"""`correspondent thread` and `correspondent move`: one thread, and a step of its state machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console

from schemas.events.threads import ThreadTransitionRequested
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.db import fetch_all, fetch_one, queries
from services.tools.running import house_here
from services.tools.settle import settle

console = Console(highlight=False)
SQL = queries(__file__, "threads.sql")


def thread(context: typer.Context, thread_id: Annotated[UUID, typer.Argument(help="The thread's id.")]) -> None:
    """Show a thread: its state, summary, goals, conversation and log."""
    home: Path = context.obj
    asyncio.run(_thread(home, thread_id))


def move(
    context: typer.Context,
    thread_id: Annotated[UUID, typer.Argument(help="The thread's id.")],
    to: Annotated[str, typer.Argument(help="in_progress, awaiting_reply, escalated, resolved, closed or new.")],
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: Annotated[str, typer.Option(help="Who asks.")] = "operator",
) -> None:
    """Ask for one step of a thread's state machine. It is made or refused, and logged either way."""
    home: Path = context.obj
    asyncio.run(_move(home, thread_id, to, reason, by))


async def _move(home: Path, thread_id: UUID, to: str, reason: str, by: str) -> None:
    asked = ThreadTransitionRequested.model_validate(
        {"thread_id": thread_id, "to_state": to, "trigger": "human", "reason": reason, "by": by}
    )
    async with house_here(home) as house:
        envelope = first(asked, id=random_id(), source="console", time=house.now(), workspace=house.settings.workspace)
        await enter(house, envelope)
        await settle(house)
        async with house.database.reading() as conn:
            row = await fetch_one(conn, SQL.last_step, {"thread_id": thread_id, "cause": envelope.id})
    if row is None:
        console.print("There is no such thread.")
    elif row["refused"]:
        console.print(f"Refused: {row['refused']}")
        raise typer.Exit(1)
    else:
        console.print(f"{row['from_state']} -> {row['to_state']}")


async def _thread(home: Path, thread_id: UUID) -> None:
    async with house_here(home) as house, house.database.reading() as conn:
        args = {"thread_id": thread_id}
        row = await fetch_one(conn, SQL.thread, args)
        parts = {name: await fetch_all(conn, getattr(SQL, name), args) for name in ("goals", "said", "log")}
    if row is None:
        console.print("There is no such thread; `correspondent mails` shows the threads there are.")
        raise typer.Exit(1)
    _show(row, parts)


def _show(row: dict[str, Any], parts: dict[str, list[dict[str, Any]]]) -> None:
    console.print(f"[b]{row['subject']}[/b]  ({row['state']}, {row['inbox']}, since {row['opened_at']:%Y-%m-%d})")
    if row["summary"]:
        console.print(f"\n[b]Summary[/b]\n{row['summary']}")
    for goal in parts["goals"]:
        console.print(f"[b]Goal[/b] {goal['text']}" + (" (reached)" if goal["closed_at"] else ""))
    for one in parts["said"]:
        console.print(f"\n[b]{one['at']:%Y-%m-%d %H:%M} {one['role']}[/b]\n{one['text']}", markup=True)
    console.print("\n[b]Log[/b]")
    for step in parts["log"]:
        refused = f"  REFUSED: {step['refused']}" if step["refused"] else ""
        change = f"{step['from_state']} -> {step['to_state']}"
        console.print(f"{step['at']:%Y-%m-%d %H:%M}  {change}  {step['trigger']}: {step['reason']}{refused}")
