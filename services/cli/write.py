"""`correspondent write`: a mail of one's own into the running deployment, and its reply."""

from __future__ import annotations

import asyncio
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import console, plain
from services.core.app import App
from services.core.clock import random_id
from services.core.db import fetch_one, queries
from services.core.outages.mail_servers import mail_outages
from services.demo.aftermath import Aftermath, look
from services.mail.addresses import parse_addresses
from services.mail.compose.wire import reply_subject
from services.operations.deployment import app_here, inbox_of
from services.operations.idle import StillBusy, newest, until_idle
from services.receive_email.accept import accept

SQL = queries(__file__, "write.sql")
WAIT_S = 180


def write(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What the customer writes.")],
    sender: Annotated[str, typer.Option("--from", help="Who writes.")] = "You <you@example.com>",
    subject: Annotated[str, typer.Option(help="The mail's subject; by default that of the mail it answers.")] = "",
    inbox: Annotated[str, typer.Option(help="The inbox's name; by default the first.")] = "",
    reply_to: Annotated[str, typer.Option(help="A Message-ID that this mail answers.")] = "",
) -> None:
    """Send a mail as a customer would, and show the reply.

    You vouch for the sender, so memory is used. Write twice under the same address to be remembered.
    """
    home: Path = context.obj
    asyncio.run(_write(home, text, sender, subject, inbox, reply_to))


async def _write(home: Path, text: str, sender: str, subject: str, inbox: str, reply_to: str) -> None:
    if len(parse_addresses(sender).addresses) != 1:
        raise typer.BadParameter(f"{sender!r} is not one address; write it as 'Name <name@host>'", param_hint="--from")
    async with app_here(home) as app:
        to = inbox_of(app, inbox)
        subject = subject or await _subject(app, reply_to.strip("<>"))
        raw = _mail(app, text, sender, to.address, subject, reply_to)
        since = await newest(app)
        accepted = await accept(
            app, to, raw, source="file", source_key=f"write/{random_id()}", vouched_by="operator at this machine"
        )
        with console.status(f"waiting for the reply (a mail rests {app.settings.threads.quiet_s:g} s first) ..."):
            await _answered(app, since)
        came = await look(app, accepted.mail_id)
        for reply in came.replies:
            console.print(plain(reply.text), soft_wrap=True)
            console.print(plain(f"\n<{reply.message_id}>", "dim"), soft_wrap=True)
        if not came.replies:
            away = [one.words for one in await mail_outages(app) if (one.direction, one.inbox) == ("smtp", to.name)]
            console.print(plain(_why_none(came, away)))


async def _subject(app: App, answered: str) -> str:
    """The subject of a mail that answers one of ours, or opens a thread. An id that is not ours is refused."""
    if not answered:
        return "A question"
    args = {"workspace": app.settings.workspace, "message_id": answered}
    async with app.database.reading() as conn:
        found = await fetch_one(conn, SQL.answered, args)
    if found is None:
        raise typer.BadParameter(f"we sent no mail with the Message-ID <{answered}>", param_hint="--reply-to")
    return reply_subject(found["subject"])


def _why_none(came: Aftermath, away: list[str]) -> str:
    if came.outcome == "waiting" and away:
        return f"The reply is written and waits: {away[0]}"
    if came.outcome == "waiting":
        return "No reply yet: `correspondent mails` shows what it waits for."
    return f"No reply: {came.outcome}. {came.mail.reason}"


async def _answered(app: App, since: int) -> None:
    try:
        await until_idle(app, since=since, timeout_s=WAIT_S)
    except StillBusy as error:
        raise StillBusy(
            f"{error}. The mail is kept and will be answered; does every processor run (`correspondent run all`)?"
        ) from None


def _mail(app: App, text: str, sender: str, to: str, subject: str, reply_to: str) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, to, subject
    mail["Date"] = format_datetime(app.now())
    mail["Message-ID"] = f"<{random_id()}@write.invalid>"
    if reply_to:
        mail["In-Reply-To"] = mail["References"] = f"<{reply_to.strip('<>')}>"
    mail.set_content(text)
    return mail.as_bytes()
