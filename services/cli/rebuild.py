"""`correspondent rebuild`: the tables made again from the stored events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.pretty import Pretty
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from services.cli.terminal import console
from services.core.archive.archive import archive_of
from services.core.settings import Settings
from services.operations.deployment import database_here
from services.operations.rebuild import run
from services.operations.rebuild.compare import Comparison
from services.operations.rebuild.projections import Folded
from services.operations.rebuild.scopes import NAMES, Scope, scope

FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]


def rebuild(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help=f"One of: {', '.join(NAMES)}.")] = "all",
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit 1 and show rows where they differ.")
    ] = False,
    as_of: Annotated[
        datetime | None,
        typer.Option(formats=FORMATS, help="Leave the state of this time (UTC) in a schema, to read; not swapped in."),
    ] = None,
    into: Annotated[str, typer.Option(help="The name of that schema; by default made from the time.")] = "",
) -> None:
    """Rebuild projections from the stored events.

    They are built in a shadow schema and swapped in. No model is asked.

    A past state is never swapped in: tables have to be what their events make, and the later events stay true. A
    deployment that starts from a past moment is restored from a backup: `correspondent restore --as-of TIME`, which
    sends nothing until it is released.
    """
    home: Path = context.obj
    if check and as_of:
        raise typer.BadParameter("--check compares what is live now; --as-of leaves a past state to be read")
    if into and not as_of:
        raise typer.BadParameter("--into names the schema of a past state; say --as-of")
    until = as_of.replace(tzinfo=UTC) if as_of and not as_of.tzinfo else as_of
    raise typer.Exit(asyncio.run(_rebuild(home, scope(what), check, until, into)))


async def _rebuild(home: Path, chosen: Scope, check: bool, until: datetime | None, into: str) -> int:
    settings = await database_here(home)
    if until is not None:
        return await _past(settings, chosen, until, into)
    return await (_check(settings, chosen) if check else _swap(settings, chosen))


async def _check(settings: Settings, chosen: Scope) -> int:
    url = settings.database_url
    with _bar(*await _counted(url, chosen)) as folded:
        found = await run.check(settings, chosen, folded, archive_of(settings))
    _show(found)
    return 1 if found.differences else 0


async def _swap(settings: Settings, chosen: Scope) -> int:
    url = settings.database_url
    with _bar(*await _counted(url, chosen)) as folded:
        count = await run.swap(settings, chosen, folded, archive_of(settings))
    console.print(f"{count} events rebuilt; {len(chosen.tables)} tables swapped in: {', '.join(chosen.tables)}.")
    return 0


async def _past(settings: Settings, chosen: Scope, until: datetime, into: str) -> int:
    url = settings.database_url
    schema = into or f"as_of_{until.astimezone(UTC):%Y%m%d_%H%M%S}"
    with _bar(*await _counted(url, chosen)) as folded:
        count = await run.past(settings, chosen, until, schema, folded, archive_of(settings))
    console.print(
        f"{count} events make the state of {until:%Y-%m-%d %H:%M:%S %Z}, in the schema [b]{schema}[/b].\n"
        f"  SELECT * FROM {schema}.facts WHERE superseded_at IS NULL;\n"
        f"  DROP SCHEMA {schema} CASCADE;  -- when you have seen enough\n"
        "For a deployment that starts from there: a backup, then `correspondent restore --as-of "
        f"{until.astimezone(UTC):%Y-%m-%dT%H:%M:%S}`."
    )
    return 0


async def _counted(url: str, chosen: Scope) -> tuple[int, int]:
    return await run.count_events(url, chosen), await run.count_erased(url, chosen)


@contextmanager
def _bar(total: int, erased: int) -> Iterator[Folded]:
    if erased:
        console.print(f"{erased} of {total} events are skipped: a person whom they are about was erased.")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("rebuilding", total=total)
        yield lambda count: bar.advance(task, count)


def _show(found: Comparison) -> None:
    for name, value in found.hashes.items():
        differs = any(one.table == name for one in found.differences)
        console.print(f"{'differs' if differs else 'equal  '}  {value[:16]}  {name}", style="red" if differs else "")
    for one in found.differences:
        for title, rows in (("live only", one.live_only), ("rebuilt only", one.folded_only)):
            for row in rows:
                console.print(f"[b]{one.table}[/b], {title}:", Pretty(row))
    verdict = f"{len(found.differences)} tables differ" if found.differences else "the live tables are that state"
    console.print(f"{found.events} events rebuilt: {verdict}.")
