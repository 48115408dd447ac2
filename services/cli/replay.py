"""`correspondent replay`: what the code would do today with what happened then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from services.cli.rebuild import FORMATS
from services.cli.terminal import console
from services.core.errors import Permanent
from services.core.settings import Settings
from services.model.port import Purpose
from services.operations.deployment import database_here
from services.operations.ids import id_beginning
from services.operations.memory.people import find_person
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.case import Case, save
from services.operations.replay.log import Log, call_of, open_log
from services.operations.replay.model import LIVE, RECORDED, Asking
from services.operations.replay.result import Result
from services.operations.replay.run import past_cases, replay, saved_cases
from services.operations.replay.selection import STARTS, Selection
from services.operations.replay.show import show_result, show_summary


class NothingToReplay(Permanent):
    """No past event and no saved case fits what was asked for."""


def replay_past(
    context: typer.Context,
    topic: Annotated[str, typer.Option(help="Begin with the events of this topic, such as inbound-email.")] = "",
    thread: Annotated[str, typer.Option(help="The turns of this thread; the beginning of its id will do.")] = "",
    participant: Annotated[
        str, typer.Option(help="The turns of this person's threads: an address, or a participant's id.")
    ] = "",
    event: Annotated[UUID | None, typer.Option(help="An event, or one of the same correlation.")] = None,
    since: Annotated[datetime | None, typer.Option("--from", formats=FORMATS, help="Event time, UTC.")] = None,
    before: Annotated[datetime | None, typer.Option("--to", formats=FORMATS, help="Event time, UTC.")] = None,
    until: Annotated[str, typer.Option(help=f"The processor: {', '.join(STARTS)}.")] = "generate_reply",
    model: Annotated[str, typer.Option(help="recorded, offline, live, or a model's name.")] = "",
    prompt: Annotated[
        Path | None, typer.Option(help="Other instructions for the model.", exists=True, dir_okay=False)
    ] = None,
    rebuild_context: Annotated[bool, typer.Option(help="Load the memory again, as of then.")] = False,
    save_to: Annotated[
        Path | None, typer.Option("--save", help="Keep the cases in this folder.", file_okay=False)
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Replay the saved cases of this folder.", exists=True, file_okay=False)
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Keep results here; the same call goes on after them.", dir_okay=False)
    ] = None,
) -> None:
    """Run the real handlers on past events, in a sandbox.

    It shows what differs from what happened.

    Nothing is sent, published or changed. Exit code 0: no difference; 1: differences; 2: a case could not be replayed.
    """
    wanted = Selection(until, rebuild_context, event, None, None, _utc(since), _utc(before), topic)
    purpose: Purpose = "reflect" if until == "reflect" else "reply"
    asking = Asking(model or (LIVE if prompt else RECORDED), _text(prompt) if prompt else "", purpose)
    home: Path = context.obj
    if thread or participant:
        wanted = asyncio.run(_of(home, wanted, thread, participant))
    kept = open_log(log, call_of(wanted, asking, check)) if log else None
    raise typer.Exit(asyncio.run(_begin(home, wanted, asking, check, save_to, kept)))


async def _of(home: Path, wanted: Selection, thread: str, participant: str) -> Selection:
    """The selection, narrowed to what a person typed. Raises `IdUnclear` or `NobodyFound`."""
    settings = await database_here(home)
    async with connected(settings.database_url) as conn:
        if thread:
            wanted = replace(wanted, thread=await id_beginning(conn, settings.workspace, thread, "thread"))
        if participant:
            who = await find_person(conn, settings.workspace, participant)
            wanted = replace(wanted, participant=who.participant_id)
    return wanted


async def _begin(
    home: Path, wanted: Selection, asking: Asking, check: Path | None, save_to: Path | None, log: Log | None
) -> int:
    """Saved cases need a database, but no deployment in it."""
    settings = await database_here(home, empty=bool(check))
    documents = bool(save_to) or not asking.recorded
    cases = saved_cases(_files(check)) if check else past_cases(settings, wanted, documents=documents)
    return await _replay(settings, cases, asking, save_to, log)


async def _replay(
    settings: Settings, cases: AsyncIterator[tuple[Case, int]], asking: Asking, save_to: Path | None, log: Log | None
) -> int:
    results = list(log.done) if log else []
    done = {one.name for one in results}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("replaying", total=None)
        async for case, result, total in replay(settings, _without(cases, done), asking):
            bar.update(task, total=total, completed=len(results) + 1)
            results.append(result)
            show_result(bar.console, result)
            _keep(case, result, save_to, log)
        bar.update(task, total=len(results), completed=len(results))
    if not results:
        raise NothingToReplay
    show_summary(console, results, len(done))
    return max((one.code for one in results), default=0)


async def _without(cases: AsyncIterator[tuple[Case, int]], done: Collection[str]) -> AsyncIterator[tuple[Case, int]]:
    async for case, total in cases:
        if case.name not in done:
            yield case, total


def _keep(case: Case, result: Result, save_to: Path | None, log: Log | None) -> None:
    if save_to:
        save(case, save_to)
    if log:
        log.add(result)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _text(prompt: Path) -> str:
    try:
        return prompt.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{prompt} is no text in UTF-8: {error}") from None


def _utc(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time
