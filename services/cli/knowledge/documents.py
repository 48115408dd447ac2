"""`correspondent knowledge add`: files, folders, web pages and lists of them into the knowledge base."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from services.cli.terminal import console, plain
from services.cli.waiting import Wait, progress_bar, still_at_work, watch
from services.core.app import App
from services.core.errors import Permanent
from services.core.settings import KnowledgeSettings
from services.core.settings.memory import DEFAULT_SPACE
from services.mail.content_types import claimed_by_name
from services.operations.deployment import app_here
from services.operations.knowledge.requests import Became, Handed, became, hand_in, unfinished
from services.operations.knowledge.sources import SUFFIXES, Source, expand, public_address


@dataclass(slots=True)
class Outcome:
    """What came of handing in: the requests that are on the log, what stood already, what could not be had."""

    commands: list[UUID] = field(default_factory=list)
    unchanged: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Marks:
    """What is said of every document of one command: where it is read, who hands it in, may it be sent, its space."""

    link: str
    by: str
    sendable: bool = False
    space: str = DEFAULT_SPACE


def add(
    context: typer.Context,
    named: Annotated[
        list[str],
        typer.Argument(metavar="PATH|URL...", help="Files, folders, web addresses, text files of web addresses."),
    ],
    link: Annotated[
        str,
        typer.Option(
            help="Where customers may read it: mails then link to it. {url}: a page's own address; {path}, {name}: "
            "a file within its folder, with and without its suffix."
        ),
    ] = "",
    sendable: Annotated[bool, typer.Option("--sendable", help="The agent may attach these files to a reply.")] = False,
    space: Annotated[
        str, typer.Option(help="Quoted only by inboxes with this memory.space; without it, by those that have none.")
    ] = DEFAULT_SPACE,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from addresses that are not public, too.")
    ] = False,
    wait: Wait = 600,
    by: Annotated[str, typer.Option(help="Who hands it in, for the log.")] = "operator",
) -> None:
    """Add files or web pages, or new editions of them.

    The same content again changes nothing, so it is safe to repeat after an interruption.
    """
    home: Path = context.obj
    sources = expand(named)
    if not sources:
        raise typer.BadParameter(f"there is no {', '.join(SUFFIXES)} file there")
    raise typer.Exit(
        asyncio.run(_add(home, sources, Marks(link, by, sendable=sendable, space=space), wait, allow_private))
    )


async def add_all(app: App, sources: list[Source], marks: Marks, limits: KnowledgeSettings) -> Outcome:
    """Hand in every source that can be had; the bar is the caller's."""
    done = Outcome()
    with progress_bar() as bar:
        for source in bar.track(sources, description="handing in"):
            try:
                _count(done, await _hand_in(app, source, marks, limits))
            except (Permanent, OSError) as error:
                done.failed.append((source.origin, str(error)))
    return done


async def _add(home: Path, sources: list[Source], marks: Marks, wait: float, allow_private: bool) -> int:
    async with app_here(home) as app:
        limits = app.settings.knowledge
        if allow_private:
            limits = limits.model_copy(update={"private_hosts": True})
        done = await add_all(app, sources, marks, limits)
        with progress_bar() as bar:
            left = await watch(bar, "reading", lambda: unfinished(app, done.commands), wait) if done.commands else 0
        decided = await became(app, done.commands)
    return _say(done, decided, left, wait)


async def _hand_in(app: App, source: Source, marks: Marks, limits: KnowledgeSettings) -> Handed:
    from services.operations.knowledge.pages import fetch

    if source.path is None:
        page = await fetch(source.origin, limits)
        content, media_type = page.content, page.media_type
    else:
        content = await asyncio.to_thread(source.path.read_bytes)
        media_type = claimed_by_name(source.path.name)
    return await hand_in(
        app,
        content,
        origin=source.origin,
        title=source.title,
        by=marks.by,
        media_type=media_type,
        public_url=public_address(marks.link, source),
        sendable=marks.sendable,
        space=marks.space,
    )


def _count(done: Outcome, handed: Handed) -> None:
    if handed.command is None:
        done.unchanged += 1
    else:
        done.commands.append(handed.command)


def _say(done: Outcome, decided: list[Became], left: int, wait: float) -> int:
    indexed = [one for one in decided if one.decision == "indexed"]
    refused = [(one.origin, one.detail) for one in decided if one.decision == "refused"]
    counts = [(len(indexed), "new or changed"), (done.unchanged, "unchanged")]
    counts.append((len(done.failed) + len(refused), "not read"))
    said = ", ".join(f"{count} {word}" for count, word in counts if count)
    if said:
        console.print(f"{said}.")
    for one in indexed:
        if one.detail:
            console.print(Text.assemble("  ", plain(one.origin), ": ", plain(one.detail)))
    for origin, reason in [*done.failed, *refused]:
        console.print(Text.assemble(("  not read  ", "red"), plain(origin), ": ", plain(reason)))
    if left and wait:
        console.print(still_at_work(left, wait))
    elif left:
        console.print(f"{len(done.commands)} handed in; `correspondent knowledge list` shows them when they are read.")
    return 1 if done.failed or refused or (left and wait) else 0
