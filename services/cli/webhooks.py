"""`correspondent webhooks`: endpoints of other programs that are told what happens, and what each was told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Table

from services.cli.terminal import After, Limit, Terminal, age, cell, minute, show_next
from services.core.app import App
from services.operations.deployment import app_here
from services.operations.ids import whole_id
from services.operations.requests import WAIT_S
from services.operations.webhooks.listing import DeliveryLine, EndpointLine, list_deliveries, list_endpoints

T = TypeVar("T")

NONE_YET = "No endpoint is registered: `correspondent webhooks add URL` makes the first."
SECRET = "Its secret, which is not shown again; the receiver verifies each webhook with it:"
console = Terminal(highlight=False)

typer_app = typer.Typer(no_args_is_help=True, help="Manage endpoints that are told what happens.")

Id = Annotated[str, typer.Argument(metavar="ENDPOINT", help="The endpoint's id, or the beginning of it.")]
WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="The webhook's id, or the beginning of it.")]
By = Annotated[str, typer.Option(help="Who says so, for the log.")]
Types = Annotated[list[str], typer.Option("--type", help="A type that it is told of; again for more. Default: all.")]
Description = Annotated[str, typer.Option(help="What it is, for your people.")]
Text = Annotated[bool, typer.Option("--text/--no-text", help="Tell it what people wrote, too.")]


@typer_app.command("list")
def listed(context: typer.Context) -> None:
    """List endpoints, and how telling them goes."""

    async def run(app: App) -> None:
        found = await list_endpoints(app)
        console.print(table_of(found, app.now()) if found else NONE_YET)

    _run(context, run)


@typer_app.command("types")
def types() -> None:
    """List the types that endpoints can be told of."""
    from schemas.webhook_payloads import DATA, KINDS

    table = Table(box=None, pad_edge=False, show_header=False)
    for one in KINDS:
        table.add_row(one, cell((DATA[one].__doc__ or "").partition("\n")[0]))
    console.print(table)


@typer_app.command("add")
def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="The address that takes POST: https://...")],
    kinds: Types = [],  # noqa: B006 - typer copies it
    description: Description = "",
    text: Text = False,
    by: By = "operator",
) -> None:
    """Register an endpoint, and print its secret once."""

    async def run(app: App) -> None:
        from services.operations.webhooks.endpoints import Wanted, add_endpoint

        made = await add_endpoint(app, Wanted(url, tuple(kinds), description, text), by=by)
        console.print(cell(f"Registered: {made.endpoint.endpoint_id}"))
        _show_secret(made.secret)

    _run(context, run)


@typer_app.command("edit")
def edit(
    context: typer.Context,
    endpoint: Id,
    url: Annotated[str, typer.Option(help="Its new address.")] = "",
    kinds: Types = [],  # noqa: B006
    description: Annotated[str | None, typer.Option(help="What it is, for your people.")] = None,
    text: Annotated[bool | None, typer.Option("--text/--no-text", help="Tell it what people wrote, too.")] = None,
) -> None:
    """Change an endpoint: what is left out stays."""
    said: dict[str, Any] = {"url": url or None, "kinds": tuple(kinds) or None, "description": description}
    changes = {name: value for name, value in (said | {"with_text": text}).items() if value is not None}

    async def run(app: App) -> None:
        from services.operations.webhooks.endpoints import change_endpoint

        line = await change_endpoint(app, await whole_id(app, endpoint, "endpoint"), **changes)
        console.print(table_of([line], app.now()))

    _run(context, run)


@typer_app.command("pause")
def pause(context: typer.Context, endpoint: Id) -> None:
    """Tell an endpoint nothing; what waits goes on waiting."""

    async def run(app: App) -> None:
        from services.operations.webhooks.endpoints import pause_endpoint

        line = await pause_endpoint(app, await whole_id(app, endpoint, "endpoint"))
        console.print(table_of([line], app.now()))

    _run(context, run)


@typer_app.command("resume")
def resume_endpoint(context: typer.Context, endpoint: Id, by: By = "operator") -> None:
    """Tell an endpoint again that was paused or disabled."""

    async def run(app: App) -> None:
        from services.operations.webhooks.requests import resume

        line = await resume(app, await whole_id(app, endpoint, "endpoint"), by=by, timeout_s=WAIT_S)
        console.print(table_of([line], app.now()))

    _run(context, run, publishes=True)


@typer_app.command("rotate")
def rotate(context: typer.Context, endpoint: Id) -> None:
    """Make a new secret; for a day the one before signs, too."""

    async def run(app: App) -> None:
        from services.operations.webhooks.endpoints import rotate_secret

        made = await rotate_secret(app, await whole_id(app, endpoint, "endpoint"))
        until = made.endpoint.both_sign_until
        _show_secret(made.secret)
        console.print(cell(f"Until {minute(until)} UTC the one before signs, too." if until else ""))

    _run(context, run)


@typer_app.command("remove")
def remove(context: typer.Context, endpoint: Id) -> None:
    """Remove an endpoint and forget its secret."""

    async def run(app: App) -> None:
        from services.operations.webhooks.endpoints import remove_endpoint

        await remove_endpoint(app, await whole_id(app, endpoint, "endpoint"))
        console.print("Removed.")

    _run(context, run)


@typer_app.command("test")
def try_endpoint(context: typer.Context, endpoint: Id, by: By = "operator") -> None:
    """Send a test, and say what came of it."""

    async def run(app: App) -> bool:
        from services.operations.webhooks.requests import send_test

        line = await send_test(app, await whole_id(app, endpoint, "endpoint"), by=by, timeout_s=WAIT_S)
        return _say(line)

    if not _run(context, run, publishes=True):
        raise typer.Exit(1)


@typer_app.command("deliveries")
def deliveries(context: typer.Context, endpoint: Id, limit: Limit = 20, after: After = "") -> None:
    """List what an endpoint was told, the newest first."""

    async def run(app: App) -> None:
        page = await list_deliveries(app, await whole_id(app, endpoint, "endpoint"), limit=limit, after=after)
        console.print(_deliveries(page) if page else "It was told nothing so far.")
        show_next(page)

    _run(context, run)


@typer_app.command("again")
def again(context: typer.Context, endpoint: Id, webhook: WebhookId, by: By = "operator") -> None:
    """Deliver a webhook again, under the same id."""

    async def run(app: App) -> bool:
        from services.operations.webhooks.requests import deliver_again

        id, which = await whole_id(app, endpoint, "endpoint"), await whole_id(app, webhook, "webhook")
        return _say(await deliver_again(app, id, which, by=by, timeout_s=WAIT_S))

    if not _run(context, run, publishes=True):
        raise typer.Exit(1)


async def show_endpoints(app: App) -> None:
    """The table of the endpoints, below a blank line, where there are any."""
    if found := await list_endpoints(app):
        console.print()
        console.print(table_of(found, app.now()))


def table_of(found: list[EndpointLine], now: datetime) -> Table:
    """An endpoint a row."""
    table = Table("endpoint", "address", "told of", "waiting", "how it stands", box=None, pad_edge=False)
    for one in found:
        kinds = ", ".join(one.kinds) if len(one.kinds) <= 3 else f"{len(one.kinds)} types"
        address = f"{one.url} ({one.description})" if one.description else one.url
        told = f"{kinds}, with text" if one.with_text else kinds
        table.add_row(*map(cell, (str(one.endpoint_id)[:8], address, told, one.waiting, how(one, now))))
    return table


def how(one: EndpointLine, now: datetime) -> str:
    """How telling it goes, in words."""
    if one.state == "disabled":
        return f"disabled: {one.reason}"
    if one.state == "paused":
        return "paused"
    if one.failing_since is not None:
        return f"takes nothing for {age(now - one.failing_since)}"
    return f"told {age(now - one.delivered_at)} ago" if one.delivered_at else "nothing told yet"


def _deliveries(page: list[DeliveryLine]) -> Table:
    table = Table("queued", "webhook", "type", "became", "attempts", "answer", box=None, pad_edge=False)
    for one in page:
        became = one.state if one.state != "waiting" or not one.due_at else f"waiting until {minute(one.due_at)}"
        said = one.detail or (str(one.status) if one.status else "")
        answer = f"{said}: {one.answer}" if one.answer else said
        cells = (minute(one.queued_at), str(one.webhook_id)[:8], one.kind, became, one.attempt, answer)
        table.add_row(*(cell(text, 160) for text in cells))
    return table


def _say(line: DeliveryLine) -> bool:
    """Say what came of a webhook; whether it was taken."""
    answer = f": {line.answer}" if line.answer else ""
    if line.state == "delivered":
        console.print(cell(f"Delivered: the endpoint answered {line.status}{answer}", 300))
        return True
    if line.state == "waiting" and not line.attempt:
        console.print("It is on its way: `correspondent webhooks deliveries` shows what comes of it.")
        return True
    again = f"; tried again at {minute(line.due_at)} UTC" if line.due_at else ""
    console.print(cell(f"Not delivered: {line.detail}{answer}{again}", 400))
    return False


def _show_secret(secret: str) -> None:
    console.print(SECRET)
    console.print(cell(secret), soft_wrap=True)


def _run(context: typer.Context, run: Callable[[App], Awaitable[T]], *, publishes: bool = False) -> T:
    async def inside() -> T:
        home: Path = context.obj
        async with app_here(home, publishes=publishes) as app:
            return await run(app)

    return asyncio.run(inside())
