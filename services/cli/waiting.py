"""Waiting for the deployment where a command asked for it: with a bar, and not for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from services.cli.terminal import console
from services.core.clock import until

LOOK_EVERY_S = 0.2

Wait = Annotated[float, typer.Option(help="Seconds to wait until it is done; 0 does not wait.", min=0)]


def progress_bar() -> Progress:
    """A bar with counts and the time that is left."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console
    )


async def watch(bar: Progress, words: str, left: Callable[[], Awaitable[int]], limit_s: float) -> int:
    """Show how much is left until nothing is, or so many seconds have passed; what was left at the end."""
    if not limit_s:
        return await left()
    task, most, now = bar.add_task(words, total=None), 1, 0

    async def is_done() -> bool:
        nonlocal most, now
        now = await left()
        most = max(most, now)
        bar.update(task, total=most, completed=most - now)
        return not now

    await until(is_done, limit_s, every_s=LOOK_EVERY_S)
    return now


def still_at_work(left: int, limit_s: float) -> str:
    """What is said where the time was over first."""
    waited = f" after {limit_s:g} s" if limit_s else ""
    things = "1 thing is" if left == 1 else f"{left} things are"
    return (
        f"Not done yet{waited}: {things} left to do. Nothing is lost, and nothing has to be typed again: a "
        "running deployment goes on by itself (`correspondent status` shows the consumers)."
    )
