"""`correspondent keys`: the master key that wraps the keys of people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import console
from services.core.app import open_keys
from services.core.errors import Permanent
from services.core.keys.master import add_master_key
from services.core.settings import Settings
from services.operations.deployment import settings_here
from services.operations.rebuild.shadow_schema import connected

typer_app = typer.Typer(no_args_is_help=True, help="Rotate the master key that wraps the keys of people.")


class MasterKeysGiven(Permanent):
    """The master keys stand in the setting master_keys: put a new one before them there, then say --rewrap."""


@typer_app.callback()
def keys() -> None:
    """Rotate the master key that wraps the keys of people."""


@typer_app.command()
def rotate(
    context: typer.Context,
    rewrap: Annotated[bool, typer.Option("--rewrap", help="Make none: wrap with the first one there is.")] = False,
) -> None:
    """Make a new master key and wrap every key of a person with it."""
    home: Path = context.obj
    settings = settings_here(home)
    if not rewrap:
        if settings.master_keys.get_secret_value():
            raise MasterKeysGiven
        add_master_key(settings.home)
    count = asyncio.run(rewrap_all(settings))
    console.print(f"{count} keys are wrapped with the master key in use. Former ones still unwrap earlier copies.")


async def rewrap_all(settings: Settings) -> int:
    """Wrap every key with the master key in use; how many were wrapped by another."""
    count = 0
    async with open_keys(settings) as keys, connected(settings.database_url) as conn:
        while True:
            async with conn.transaction():
                done = await keys.rewrap(conn)
            if not done:
                return count
            count += done
