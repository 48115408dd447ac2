"""`correspondent drafts`, `approve` and `reject`: replies that wait for a person."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from schemas.events.replies import DraftDecided
from services.console.drafts.deciding import decide, standing
from services.console.drafts.reading import held_draft, waiting_drafts
from services.tools.commands.ids import whole_id
from services.tools.commands.terminal import console, plain, short, source_line
from services.tools.running import house_here
from services.tools.settle import settle

WAIT_S = 60.0  # how long a command waits for send_email's decision

ReplyId = Annotated[str, typer.Argument(help="The draft's id, or its beginning, as `correspondent drafts` shows it.")]
By = Annotated[str, typer.Option(help="Who decides, for the log.")]


def drafts(context: typer.Context) -> None:
    """Show the drafts that wait for a person, oldest first. `send.approval = "review"` holds every reply."""
    home: Path = context.obj
    asyncio.run(_drafts(home))


def approve(
    context: typer.Context,
    reply_id: ReplyId,
    text: Annotated[
        Path | None, typer.Option(help="A file with your own wording, sent instead.", exists=True, dir_okay=False)
    ] = None,
    by: By = "operator",
) -> None:
    """Send a draft, as it is or in your own words. A newer mail of the customer discards it instead."""
    home: Path = context.obj
    asyncio.run(_decide(home, reply_id, approve=True, text=_wording(text), reason="", by=by))


def reject(
    context: typer.Context,
    reply_id: ReplyId,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Throw a draft away; its turn ends as rejected."""
    home: Path = context.obj
    asyncio.run(_decide(home, reply_id, approve=False, text="", reason=reason, by=by))


async def _drafts(home: Path) -> None:
    async with house_here(home) as house, house.database.reading() as conn:
        found = await waiting_drafts(conn, house.settings.workspace)
    for one in found:
        head = plain(f"to {one.recipient}  «{one.subject}»", "bold")
        console.print(Text.assemble((short(one.reply_id), "bold cyan"), "  ", head, "\n", plain(one.text)))
        for source in one.sources:
            console.print(source_line(source))
        console.print()
    if found:
        console.print("Send one with `correspondent approve ID`, or `reject ID`.", style="dim")
    else:
        console.print('No draft waits. With `approval = "review"` under [send], every reply does.', markup=False)


def _wording(file: Path | None) -> str:
    if file is None:
        return ""
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not text:
        raise typer.BadParameter(f"{file} is empty; leave --text out to send the draft as it is")
    return text


async def _decide(home: Path, typed: str, *, approve: bool, text: str, reason: str, by: str) -> None:
    async with house_here(home) as house:
        reply_id = await whole_id(house, typed, "reply")
        async with house.database.reading() as conn:
            held = await held_draft(conn, house.settings.workspace, reply_id)
        if held is None:
            raise typer.BadParameter("this reply waits for nobody; `correspondent drafts` lists those that do")
        word = DraftDecided(
            reply_id=reply_id,
            thread_id=held.thread_id,
            approve=approve,
            text_sha256=held.text_sha256,
            thread_version=held.thread_version,
            text=text,
            reason=reason,
            by=by,
        )
        await decide(house, word, timeout_s=WAIT_S)
        await settle(house)
        became = await standing(house, reply_id)
    if became.state == "draft":
        console.print(
            "Not done: the draft still waits. Its thread has changed meanwhile; look again, and decide again."
        )
        raise typer.Exit(1)
    console.print(plain(f"{became.state}. {became.detail}"))
