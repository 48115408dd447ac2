"""`correspondent inbox`: the mailboxes that the agent answers for."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import psycopg
import typer
from psycopg.rows import dict_row
from pydantic import ValidationError
from rich.table import Table

from services.core.db import queries
from services.core.settings import InboxSettings, Settings
from services.receive_email.check import check_inbox
from services.tools import config_file
from services.tools.commands.findings import show_findings
from services.tools.commands.terminal import console
from services.tools.running import settings_here

app = typer.Typer(no_args_is_help=True, help="The mailboxes that the agent answers for.")
SQL = queries(__file__, "inbox.sql")

RESTART = "A house that is running takes this up at its next start."
CONNECT_S = 3
Name = Annotated[str, typer.Argument(help="The inbox's name, as `correspondent inbox list` shows it.")]


@app.command("list")
def list_inboxes(context: typer.Context) -> None:
    """Show every inbox, whence its mail comes, and up to where it has been read."""
    settings = settings_here(context.obj)
    try:
        positions = asyncio.run(_positions(settings))
    except psycopg.Error:
        positions = {}
        console.print("The database does not answer: how far each was read is not shown.", style="dim")
    table = Table("name", "address", "mail comes by", "state", "read up to", box=None)
    for inbox in settings.inboxes:
        way = f"IMAP {inbox.imap.host}, {inbox.imap.folder}" if inbox.imap else "webhook or files"
        state = "paused" if inbox.paused else "on"
        table.add_row(inbox.name, inbox.address, way, state, ", ".join(positions.get(inbox.name, ())))
    console.print(table if settings.inboxes else "No inbox. `correspondent inbox add` adds one.")


@app.command()
def test(context: typer.Context, name: Name) -> None:
    """Try an inbox: DNS, connection, TLS, login, folder, and the way out. Changes nothing anywhere."""
    settings = settings_here(context.obj)
    inbox = settings.inbox(name)
    if not passes(settings, inbox):
        raise typer.Exit(1)


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A short name for it.")],
    address: Annotated[str, typer.Argument(help="Its address.")],
    display_name: Annotated[str, typer.Option(help="The name that customers see.")] = "Support",
    imap_host: Annotated[str, typer.Option(help="The IMAP server; without one, mail comes by webhook.")] = "",
    imap_port: int = 993,
    imap_tls: Annotated[str, typer.Option(help="implicit, starttls, or none on a server of your own.")] = "implicit",
    username: Annotated[str, typer.Option(help="By default the address.")] = "",
    password: Annotated[str, typer.Option(help="Asked for where not given.", envvar="INBOX_PASSWORD")] = "",
    folder: str = "INBOX",
    smtp_host: Annotated[str, typer.Option(help="Where its replies go; by default as the settings' `smtp`.")] = "",
    smtp_port: int = 587,
    smtp_tls: Annotated[str, typer.Option(help="starttls, implicit or none.")] = "starttls",
) -> None:
    """Try an inbox and, when all is well, write it into correspondent.toml. Its mail of before is not answered."""
    if (imap_host or smtp_host) and not password:
        password = typer.prompt(f"Password of {username or address}", hide_input=True)
    login = {"username": username or address, "password": password}
    entry: dict[str, Any] = {"name": name, "address": address, "display_name": display_name}
    if imap_host:
        entry["imap"] = {"host": imap_host, "port": imap_port, "tls": imap_tls, "folder": folder, **login}
    if smtp_host:
        sign_in = login if smtp_tls != "none" else {}
        entry["smtp"] = {"host": smtp_host, "port": smtp_port, "tls": smtp_tls, **sign_in}
    _add(settings_here(context.obj), entry)


@app.command()
def pause(name: Name) -> None:
    """Stop reading an inbox. Its mail waits at the server, and its webhook says 503; nothing is lost."""
    config_file.set_inbox(config_file.config_path(), name, "paused", True)
    console.print(f"{name} is paused; `correspondent inbox resume {name}` goes on where it stood. {RESTART}")


@app.command()
def resume(name: Name) -> None:
    """Read a paused inbox again. Mail that came in the meantime is answered now."""
    config_file.set_inbox(config_file.config_path(), name, "paused", False)
    console.print(f"{name} is on. {RESTART}")


@app.command()
def remove(name: Name) -> None:
    """Take an inbox out of correspondent.toml. Its mail and its position stay in the database."""
    config_file.remove_inbox(config_file.config_path(), name)
    console.print(f"{name} is removed. Added again under this name, it goes on where it stood. {RESTART}")


def passes(settings: Settings, inbox: InboxSettings) -> bool:
    """Check an inbox, say each finding in words; whether all is well."""
    return show_findings(asyncio.run(check_inbox(inbox, inbox.smtp or settings.smtp)))


def _add(settings: Settings, entry: dict[str, Any]) -> None:
    try:
        inbox = InboxSettings.model_validate(entry)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise typer.BadParameter(faults) from None
    if not passes(settings, inbox):
        console.print("Nothing was written. Mend what is marked above and try again.")
        raise typer.Exit(1)
    path = config_file.config_path()
    config_file.add_inbox(path, entry)
    console.print(f"{inbox.name} is in {path}. {RESTART}")
    console.print(_next(inbox))


def _next(inbox: InboxSettings) -> str:
    if inbox.imap:
        return (
            "It begins at its newest mail: what lies there already is not answered. To learn from that, import it:\n"
            f"  correspondent import PATH --inbox {inbox.name}"
        )
    return f"Have your provider post to /inbound/FORMAT?inbox={inbox.name}; docs/how-to/connect-an-inbox.md says how."


async def _positions(settings: Settings) -> dict[str, list[str]]:
    """By inbox: each folder with the UID up to which it has been read."""
    found: dict[str, list[str]] = {}
    connecting = psycopg.AsyncConnection.connect(settings.database_url, connect_timeout=CONNECT_S, row_factory=dict_row)
    async with await connecting as conn:
        for row in await (await conn.execute(SQL.positions, {"workspace": settings.workspace})).fetchall():
            found.setdefault(row["inbox"], []).append(f"{row['folder']} UID {row['last_uid']}")
    return found
