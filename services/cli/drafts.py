"""`correspondent drafts`, `approve` and `reject`: replies that wait for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from schemas.events.mail import UNPROVEN_LEVELS
from schemas.events.replies import DraftDecided
from services.cli.terminal import After, Limit, console, plain, short, show_next, source_line
from services.operations.deployment import app_here
from services.operations.drafts.decisions import NewFile, WordsWanted, check_wording, decide, keep_files, state_of
from services.operations.drafts.listing import HeldDraft, held_draft, waiting_drafts
from services.operations.idle import newest, until_idle
from services.operations.ids import whole_id
from services.operations.requests import WAIT_S

ReplyId = Annotated[str, typer.Argument(help="The draft's id, or its beginning, as `correspondent drafts` shows it.")]
By = Annotated[str, typer.Option(help="Who decides, for the log.")]


def drafts(context: typer.Context, limit: Limit = 50, after: After = "") -> None:
    """List the drafts that wait for approval, oldest first.

    `send.approval = "review"` holds every reply.
    """
    home: Path = context.obj
    asyncio.run(_drafts(home, limit, after))


def approve(
    context: typer.Context,
    reply_id: ReplyId,
    text: Annotated[
        Path | None, typer.Option(help="A file with your own wording, sent instead.", exists=True, dir_okay=False)
    ] = None,
    attach: Annotated[
        list[Path] | None,
        typer.Option(help="A file that goes along; may be given several times.", exists=True, dir_okay=False),
    ] = None,
    by: By = "operator",
) -> None:
    """Send a draft, as it is or in your own words.

    A newer mail of the customer discards the draft instead.
    """
    home: Path = context.obj
    asyncio.run(_decide(home, reply_id, approve=True, text=_wording(text), reason="", by=by, files=attach or []))


def reject(
    context: typer.Context,
    reply_id: ReplyId,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Reject a draft; its turn ends as rejected."""
    home: Path = context.obj
    asyncio.run(_decide(home, reply_id, approve=False, text="", reason=reason, by=by))


async def _drafts(home: Path, limit: int, after: str) -> None:
    async with app_here(home, publishes=False) as app, app.database.reading() as conn:
        found = await waiting_drafts(conn, app.settings.workspace, limit=limit, after=after)
    for one in found:
        to = ", ".join([one.recipient, *(f"copy to {each}" for each in one.cc)])
        head = Text.assemble(plain(f"to {to}  «{one.subject}»", "bold"), plain(_doubt(one.sender_level), "red"))
        console.print(Text.assemble((short(one.reply_id), "bold cyan"), "  ", head, "\n", plain(one.shown)))
        for name in one.file_names:
            console.print(plain(f"with the file {name}"))
        console.print(plain(_judged(one), "dim"))
        for source in one.sources:
            console.print(source_line(source))
        console.print()
    if found:
        console.print("Send one with `correspondent approve ID`, or `reject ID`.", style="dim")
    else:
        console.print('No draft waits. With `approval = "review"` under [send], every reply does.', markup=False)
    show_next(found)


def _judged(draft: HeldDraft) -> str:
    """Its intent and score, and what a person should look at."""
    score = f"score {draft.score['value']:.2f}" if draft.score else "no score"
    floors = [one.replace("_", " ") for one in draft.score["floors"]] if draft.score else []
    look = [f"look at: {', '.join(floors)}"] if floors else []
    claims = [f"not in its context: {'; '.join(draft.unsupported)}"] if draft.unsupported else []
    words = ["leaves in your own words only"] if draft.level == "human_only" else []
    return " · ".join([draft.intent or "no intent", score, *look, *claims, *words])


def _doubt(level: str) -> str:
    """What a person should know of whom a draft goes to, where nothing proves that it is they."""
    return f"  {level}: nothing proves that it is they" if level in UNPROVEN_LEVELS else ""


def _wording(file: Path | None) -> str:
    if file is None:
        return ""
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if not text:
        raise typer.BadParameter(f"{file} is empty; leave --text out to send the draft as it is")
    return text


async def _decide(
    home: Path, typed: str, *, approve: bool, text: str, reason: str, by: str, files: Sequence[Path] = ()
) -> None:
    async with app_here(home) as app:
        reply_id = await whole_id(app, typed, "reply")
        async with app.database.reading() as conn:
            held = await held_draft(conn, app.settings.workspace, reply_id)
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
        try:
            check_wording(held, word)
        except WordsWanted as error:
            raise typer.BadParameter(f"{error}: `--text FILE`, or `correspondent reply`") from None
        given = [NewFile(one.name, one.read_bytes()) for one in files]
        word = word.model_copy(update={"files": await keep_files(app, word, given)})
        since = await newest(app)
        await decide(app, word, timeout_s=WAIT_S)
        await until_idle(app, since=since)
        became = await state_of(app, reply_id)
    if became.state == "draft":
        console.print(
            "Not done: the draft still waits. Its thread has changed meanwhile; look again, and decide again."
        )
        raise typer.Exit(1)
    console.print(plain(f"{became.state}. {became.detail}".rstrip(": ")))
