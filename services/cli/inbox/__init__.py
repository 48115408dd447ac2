"""`correspondent inbox`: the inboxes that the agent answers for."""

from __future__ import annotations

import asyncio
import webbrowser
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
import typer
from psycopg.rows import dict_row
from pydantic import ValidationError
from rich.table import Table

from services.cli.terminal import console, show_findings
from services.core.db import queries
from services.core.error_words import named
from services.core.secret_values import escaped
from services.core.settings import InboxSettings, Settings
from services.operations import config_file
from services.operations.deployment import settings_here
from services.operations.oauth_providers import PROVIDERS, Provider

if TYPE_CHECKING:
    from services.operations.oauth import Client

typer_app = typer.Typer(no_args_is_help=True, help="Manage the inboxes that the agent answers for.")
SQL = queries(__file__, "inbox.sql")

RESTART = "A running deployment takes this up at its next start."
CONNECT_S = 3
Name = Annotated[str, typer.Argument(help="The inbox's name, as `correspondent inbox list` shows it.")]


@typer_app.command("list")
def list_inboxes(context: typer.Context) -> None:
    """List inboxes, where their mail comes from and how far it is read."""
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


@typer_app.command()
def test(context: typer.Context, name: Name) -> None:
    """Test an inbox: DNS, connection, TLS, login, folder, sender results, SMTP."""
    settings = settings_here(context.obj)
    inbox = settings.inbox(name)
    if not passes(settings, inbox):
        raise typer.Exit(1)


@typer_app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A short name for it.")],
    address: Annotated[str, typer.Argument(help="Its address.")],
    display_name: Annotated[str, typer.Option(help="The name that customers see.")] = "Support",
    imap_host: Annotated[str, typer.Option(help="The IMAP server; without one, mail comes by webhook.")] = "",
    imap_port: int = 993,
    imap_tls: Annotated[str, typer.Option(help="implicit, starttls, or none on a server of your own.")] = "implicit",
    username: Annotated[str, typer.Option(help="By default the address.")] = "",
    password: Annotated[
        str,
        typer.Option(help="Or '${NAME}' of an environment variable. Asked for if missing.", envvar="INBOX_PASSWORD"),
    ] = "",
    password_file: Annotated[str, typer.Option(help="A file that holds it, in its place.")] = "",
    ca_file: Annotated[str, typer.Option(help="Certificates of your own CA, in PEM, for both servers.")] = "",
    folder: str = "INBOX",
    smtp_host: Annotated[str, typer.Option(help="Where its replies go; by default as the settings' `smtp`.")] = "",
    smtp_port: int = 587,
    smtp_tls: Annotated[str, typer.Option(help="starttls, implicit or none.")] = "starttls",
) -> None:
    """Test an inbox and, if all is well, write it into correspondent.toml.

    Mail that lies in it already is not answered.
    """
    if (imap_host or smtp_host) and not (password or password_file):
        password = escaped(typer.prompt(f"Password of {username or address}", hide_input=True))
    secret = {"password_file": password_file} if password_file else {"password": password}
    login = {"username": username or address, **secret}
    trust = {"ca_file": ca_file} if ca_file else {}
    entry: dict[str, Any] = {"name": name, "address": address, "display_name": display_name}
    if imap_host:
        entry["imap"] = {"host": imap_host, "port": imap_port, "tls": imap_tls, "folder": folder, **trust, **login}
    if smtp_host:
        sign_in = login if smtp_tls != "none" else {}
        entry["smtp"] = {"host": smtp_host, "port": smtp_port, "tls": smtp_tls, **trust, **sign_in}
    _add(settings_here(context.obj), entry)


@typer_app.command()
def login(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The inbox's name; a new one is added with --address.")],
    provider: Annotated[str, typer.Option(help="google or microsoft.")],
    client_id: Annotated[str, typer.Option(help="The application's id at the provider.", envvar="OAUTH_CLIENT_ID")],
    client_secret: Annotated[str, typer.Option(help="Where it has one.", envvar="OAUTH_CLIENT_SECRET")] = "",
    tenant: Annotated[str, typer.Option(help="Microsoft: your directory's id or domain.")] = "common",
    address: Annotated[str, typer.Option(help="Of a new inbox; of a known one it is in the settings.")] = "",
    device: Annotated[bool, typer.Option("--device", help="Consent on another device, by a code (Microsoft).")] = False,
) -> None:
    """Sign a Gmail or Microsoft 365 mailbox in with OAuth, and write the login into correspondent.toml.

    The refresh token is kept sealed below `home`, never in the settings.
    """
    from services.mail.imap import token_store
    from services.operations.oauth import Client, by_browser, by_device

    settings = settings_here(context.obj)
    if provider not in PROVIDERS:
        raise typer.BadParameter(f"--provider is one of {', '.join(PROVIDERS)}")
    known = settings.known_inbox(name)
    if not (address := address or (known.address if known else "")):
        raise typer.BadParameter(f"there is no inbox named {name}: give its --address")
    client = Client(client_id, client_secret, tenant)
    ask = by_device if device else by_browser
    token = asyncio.run(ask(PROVIDERS[provider], client, _show))
    file = f"oauth/{name}.token"
    token_store(settings).write(file, token)
    entry = grant_entry(PROVIDERS[provider], client, address, file)
    if known is None:
        _add(settings, {"name": name, "address": address, **entry})
        return
    for key, value in entry.items():
        config_file.set_inbox(config_file.config_path(), name, key, value)
    console.print(f"{name} is signed in. `correspondent inbox test {name}` tries it. {RESTART}")


def grant_entry(provider: Provider, client: Client, address: str, file: str) -> dict[str, Any]:
    """The `imap` and `smtp` entries for a grant whose token lies in a sealed file."""
    oauth: dict[str, Any] = {"token_url": client.at(provider.token_url), "client_id": client.client_id}
    if client.client_secret:
        oauth["client_secret"] = client.client_secret
    return provider.servers(address, {**oauth, "refresh_token_file": file, "scope": provider.scope})


def _show(said: str) -> None:
    if said.startswith("http"):
        console.print("Open this address in a browser on this machine, sign in as the mailbox, and consent:")
        webbrowser.open(said)
    console.print(said, soft_wrap=True, markup=False)


@typer_app.command()
def pause(name: Name) -> None:
    """Stop reading an inbox; its mail waits at the server."""
    config_file.set_inbox(config_file.config_path(), name, "paused", True)
    console.print(f"{name} is paused; `correspondent inbox resume {name}` goes on where it stood. {RESTART}")


@typer_app.command()
def resume(name: Name) -> None:
    """Read a paused inbox again, and answer what came meanwhile."""
    config_file.set_inbox(config_file.config_path(), name, "paused", False)
    console.print(f"{name} is on. {RESTART}")


@typer_app.command()
def remove(name: Name) -> None:
    """Remove an inbox from correspondent.toml; its mail is kept."""
    config_file.remove_inbox(config_file.config_path(), name)
    console.print(f"{name} is removed. Added again under this name, it goes on where it stood. {RESTART}")


def passes(settings: Settings, inbox: InboxSettings) -> bool:
    """Check an inbox, say each finding in words; whether all is well."""
    from services.operations.inbox_test import findings_of

    return show_findings(asyncio.run(findings_of(settings, inbox)))


def _add(settings: Settings, entry: dict[str, Any]) -> None:
    try:
        inbox = InboxSettings.model_validate(entry)
    except ValidationError as error:
        faults = "; ".join(": ".join(named(one)) for one in error.errors())
        raise typer.BadParameter(faults) from None
    if not passes(settings, inbox):
        console.print("Nothing was written. Fix what is marked above and try again.")
        raise typer.Exit(1)
    path = config_file.config_path()
    config_file.add_inbox(path, entry)
    console.print(f"{inbox.name} is in {path}. {RESTART}")
    console.print(_next(inbox))
    from services.cli.inbox.senders import settle_server  # it asks a server

    settle_server(settings, inbox)


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
