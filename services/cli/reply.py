"""`correspondent reply`: answer a thread yourself, and take an answer back that has not left.

What was typed is never lost: where the reply does not go, its text is kept in a file that the command names.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from schemas.events.replies import AfterReply
from services.cli.terminal import console, plain, short
from services.cli.threads import ThreadId
from services.core.app import App
from services.core.clock import random_id
from services.core.errors import Permanent
from services.core.printable import printable
from services.operations.deployment import app_here
from services.operations.drafts.decisions import NewFile
from services.operations.idle import newest, until_idle
from services.operations.ids import whole_id
from services.operations.requests import WAIT_S
from services.operations.threads import answers
from services.operations.threads.answers import LONGEST_REPLY
from services.operations.threads.listing import Message, whole_thread

SHOWN = 6  # messages below the line in the editor
LINE = "# ---- Your reply stands above this line. What is below is not sent. ----"
UNSENT = "unsent"  # the folder of kept texts, in the deployment's

By = Annotated[str, typer.Option(help="Who answers, for the log.")]


class ReplyLost(Permanent):
    """The reply was accepted, and will not go."""


class ThreadFirst(TyperGroup):
    """`reply THREAD` is `reply send THREAD`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options may stand before the thread."""
        return super().parse_args(ctx, self._meant(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The sub-command, and what it is given."""
        return super().resolve_command(ctx, self._meant(args))

    def _meant(self, args: list[str]) -> list[str]:
        """A first word that is no sub-command is what `send` is given."""
        return ["send", *args] if args and args[0] not in (*self.commands, "--help") else args


typer_app = typer.Typer(cls=ThreadFirst, no_args_is_help=True, help="Answer a thread yourself, or take an answer back.")


@typer_app.command()
def send(
    context: typer.Context,
    thread_id: ThreadId,
    text: Annotated[str, typer.Option(help="The reply.")] = "",
    file: Annotated[
        Path | None, typer.Option(help="A file with the reply; - is standard input.", allow_dash=True, dir_okay=False)
    ] = None,
    cc: Annotated[list[str] | None, typer.Option(help="Who gets a copy; may be given again.")] = None,
    attach: Annotated[
        list[Path] | None, typer.Option(help="A file that goes along; may be given again.", exists=True, dir_okay=False)
    ] = None,
    quote: Annotated[
        bool | None, typer.Option("--quote/--no-quote", help="Quote the mail; by default as the inbox has it.")
    ] = None,
    resolve: Annotated[bool, typer.Option("--resolve", help="The thread is resolved then.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep-escalated", help="The thread stays with you, or becomes yours.")
    ] = False,
    back: Annotated[bool, typer.Option("--hand-back", help="The agent goes on.")] = False,
    hold: Annotated[float, typer.Option(help="Seconds in which it can be taken back.", min=0, max=600)] = 0.0,
    seen: Annotated[
        int | None, typer.Option(help="The thread's version that you saw; by default the present one.")
    ] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Send it although somebody wrote since.")] = False,
    id: Annotated[str, typer.Option(help="Your name for the reply: the same again is the same reply.")] = "",
    by: By = "operator",
) -> None:
    """Answer a thread yourself.

    The text comes from --text, --file or standard input; on a terminal an editor opens. The reply goes the way of every
    reply: once. Refused (exit code 1), it is kept in a file.
    """
    home: Path = context.obj
    asyncio.run(
        _send(
            home,
            thread_id,
            text=text,
            file=file,
            seen=seen,
            client_id=id or str(random_id()),
            by=by,
            anyway=anyway,
            cc=tuple(cc) if cc else None,
            files=tuple(NewFile(one.name, one.read_bytes()) for one in attach or ()),
            with_quote=quote,
            then=_then(resolve=resolve, keep=keep, back=back),
            hold_s=hold,
        )
    )


@typer_app.command()
def cancel(
    context: typer.Context,
    reply_id: Annotated[str, typer.Argument(help="The reply's id, or its beginning, as `reply` printed it.")],
    by: By = "operator",
) -> None:
    """Take a reply back that has not left; the thread is then yours."""

    async def run(home: Path) -> None:
        async with app_here(home) as app:
            whole = await whole_id(app, reply_id, "reply")
            thread_id = await answers.thread_of(app, whole)
            try:
                became = await answers.cancel(app, thread_id, whole, by, timeout_s=WAIT_S)
            except answers.TooLate as error:
                console.print(plain(f"Too late: {error}"))
                raise typer.Exit(1) from None
        console.print(plain(f"{became.state}. {became.detail}"))

    asyncio.run(run(context.obj))


async def _send(
    home: Path, typed: str, *, text: str, file: Path | None, seen: int | None, client_id: str, **chosen: Any
) -> None:
    async with app_here(home) as app:
        thread_id = await whole_id(app, typed, "thread")
        async with app.database.reading() as conn:
            found = await whole_thread(conn, app.settings.workspace, thread_id, limit=SHOWN)
        said = _text(text, file, found.conversation)
        new = answers.NewReply(said, found.version if seen is None else seen, **chosen)
        with _kept(home, answers.reply_id_of(thread_id, client_id), said):
            became = await _sent(app, thread_id, client_id, new)
    for remark in became.remarks:
        console.print(plain(remark, "yellow"))
    console.print(plain(f"{became.state}. {became.detail}"))
    if became.leaves_at:
        how = f"`correspondent reply cancel {short(became.reply_id)}`"
        console.print(plain(f"It leaves at {became.leaves_at:%H:%M:%S} UTC; {how} takes it back."))


async def _sent(app: App, thread_id: UUID, client_id: str, new: answers.NewReply) -> answers.OwnReply:
    """What became of the reply, once the deployment is at rest; one that is held is not waited for."""
    since = await newest(app)
    became = await answers.reply(app, thread_id, client_id, new, timeout_s=WAIT_S)
    if not new.hold_s:
        await until_idle(app, since=since)
        now = await answers.own_reply(app, thread_id, became.reply_id)
        became = replace(now, remarks=became.remarks)
    if became.state in ("failed", "discarded"):
        raise ReplyLost(f"{became.state}: {became.detail}")
    return became


@contextmanager
def _kept(home: Path, reply_id: UUID, text: str) -> Iterator[None]:
    """The text is in a file until the reply is known to be on its way."""
    place = home / UNSENT / f"{reply_id}.txt"
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.touch(mode=0o600)
    place.write_text(text, encoding="utf-8")
    try:
        yield
    except ReplyLost as error:
        console.print(plain(f"Not sent: {error}. Your text is kept in {place}."))
        raise typer.Exit(1) from None
    except answers.ReplyDoesNotFit as error:
        console.print(plain(f"Not sent: {error.reason}."))
        for one in error.came:
            console.print(plain(f"\n{one.at:%Y-%m-%d %H:%M}  {one.by or one.role}\n{one.text}"))
        console.print(plain(f"Your text is kept in {place}; look, then send it with --file, or --anyway."))
        raise typer.Exit(1) from None
    except BaseException:
        sys.stderr.write(printable(f"Your text is kept in {place}.\n", keep="\n"))
        raise
    place.unlink(missing_ok=True)


def _text(typed: str, file: Path | None, conversation: tuple[Message, ...]) -> str:
    """What the person says: typed, from a file or standard input, or from their editor."""
    if typed:
        said = typed
    elif file is not None and str(file) != "-":
        said = file.read_text(encoding="utf-8", errors="replace")
    elif file is not None or not sys.stdin.isatty():
        said = sys.stdin.read(LONGEST_REPLY + 1)
    else:
        said = _edited(_page(conversation)).partition(LINE)[0]
    if not said.strip():
        raise typer.BadParameter("the reply says nothing; give --text, --file, or write it to standard input")
    return said.strip()


def _edited(page: str) -> str:
    """The page as the person's editor left it."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with NamedTemporaryFile("w+", suffix=".txt", encoding="utf-8") as file:
        file.write(page)
        file.flush()
        subprocess.run([*shlex.split(editor), file.name], check=True)
        return Path(file.name).read_text(encoding="utf-8", errors="replace")


def _page(conversation: tuple[Message, ...]) -> str:
    """The editor's page: room for the reply, and below a line what was said."""
    said = [
        f"{one.at:%Y-%m-%d %H:%M}  {one.role}\n{printable(one.text, keep=chr(10) + chr(9))}" for one in conversation
    ]
    return "\n\n".join(["", LINE, *said])


def _then(*, resolve: bool, keep: bool, back: bool) -> AfterReply:
    if resolve + keep + back > 1:
        raise typer.BadParameter("give one of --resolve, --keep-escalated and --hand-back")
    return "resolve" if resolve else "keep" if keep else "hand_back" if back else ""
