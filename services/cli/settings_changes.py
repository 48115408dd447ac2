"""`correspondent settings set|unset|changed|history|undo`: settings changed without a restart."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from services.cli.requests import By, in_house
from services.cli.terminal import After, Limit, console, plain, show_next

if TYPE_CHECKING:
    from services.core.app import App
    from services.operations.settings_changes.changes import Wanted

Name = Annotated[str, typer.Argument(help="Such as limits.thread_per_hour or 'inboxes[support].persona'.")]
Reason = Annotated[str, typer.Option(help="Why, for the history.")]
LONGEST = 200  # characters of a value


def set_one(
    context: typer.Context,
    name: Name,
    value: Annotated[str, typer.Argument(help="The value; '-' reads it from standard input.")],
    reason: Reason = "",
    by: By = "command line",
) -> None:
    """Change a setting of the running deployment."""
    import sys

    typed = sys.stdin.read().rstrip("\n") if value == "-" else value

    async def run(app: App) -> Wanted:
        from services.core.settings.changeable import changeable
        from services.operations.settings_changes import change
        from services.operations.settings_changes.fields import read_value

        known = changeable(app.settings).get(name)
        return await change(app, {name: read_value(known, typed) if known else typed}, base=None, by=by, reason=reason)

    _say(context, run)


def unset(context: typer.Context, name: Name, reason: Reason = "", by: By = "command line") -> None:
    """Give a setting back to the settings file."""

    async def run(app: App) -> Wanted:
        from services.operations.settings_changes import change

        return await change(app, {}, [name], base=None, by=by, reason=reason)

    _say(context, run)


def undo(
    context: typer.Context,
    version: Annotated[int, typer.Argument(help="The change, as `history` shows it.", min=1, max=2**31 - 1)],
    reason: Reason = "",
    by: By = "command line",
) -> None:
    """Take one change back, as a new change."""

    async def run(app: App) -> Wanted:
        from services.operations.settings_changes import undo as take_back

        return await take_back(app, version, by=by, reason=reason)

    _say(context, run)


def changed(context: typer.Context) -> None:
    """List settings that are changed, each with the value of the file."""

    async def run(app: App) -> None:
        said = app.in_force
        for name, one in sorted(said.stored.values.items()):
            console.print(plain(f"{name} = {_value(one.value)}"))
            note = f"  by {one.by}, {one.at:%Y-%m-%d %H:%M}, change {one.version}"
            console.print(plain(f"{note}; the file has {_of_file(app, name)}", "dim"))
            if name in said.ignored:
                console.print(Text.assemble(("  does not count: ", "red"), plain(said.ignored[name])))
        if not said.stored.values:
            console.print("Every setting is as the file has it. `correspondent settings set NAME VALUE` changes one.")

    in_house(context, run)


def history(context: typer.Context, limit: Limit = 20, after: After = "") -> None:
    """List changes of settings, the newest first."""

    async def run(app: App) -> None:
        from services.operations.settings_changes import history as changes

        found = await changes(app, limit=limit, after=after)
        for one in found:
            back = f", takes back {one.undoes}" if one.undoes else ""
            why = f": {one.reason}" if one.reason else ""
            console.print(
                Text.assemble((f"{one.version}", "bold cyan"), plain(f"  {one.at:%Y-%m-%d %H:%M}  {one.by}{back}{why}"))
            )
            for name in one.settings:
                console.print(
                    plain(f"  {name.name} {f'= {_value(name.value)}' if name.is_set else 'as the file has it'}")
                )
        show_next(found)
        if not found:
            console.print("No setting was ever changed while the deployment ran.")

    in_house(context, run)


def _say(context: typer.Context, run: Callable[[App], Awaitable[Wanted]]) -> None:
    from services.operations.settings_changes import SettingConflict, SettingRefused

    try:
        wanted = in_house(context, run)
    except (SettingRefused, SettingConflict) as error:
        raise typer.BadParameter(str(error)) from None
    for name, value in wanted.values.items():
        console.print(plain(f"{name} = {_value(value)}"))
    for name in wanted.unset:
        console.print(plain(f"{name} is as the file has it"))
    console.print(
        plain(f"Stored as change {wanted.version}." if wanted.names else "Nothing changed: it is so already.")
    )


def _of_file(app: App, name: str) -> str:
    from services.core.settings import SettingsWrong
    from services.core.settings.changeable import value_of

    try:
        return _value(value_of(app.in_force.given or app.settings, name))
    except SettingsWrong:
        return "no such setting"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
