"""`correspondent backup` and `correspondent restore`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from services.cli.rebuild import FORMATS
from services.cli.terminal import console
from services.core.app import open_app
from services.core.settings import Settings
from services.operations.backup import restore as restoring
from services.operations.backup.keys import KeyCopy, copies_left, keep_keys
from services.operations.backup.manifest import Manifest, newest, read
from services.operations.backup.restore import refuse_archived, take_back
from services.operations.backup.take import take
from services.operations.deployment import started_if_needed
from services.operations.rebuild.shadow_schema import connected


def backup(
    context: typer.Context,
    to: Annotated[Path, typer.Option(help="A folder; each backup gets one of its own in it, blobs are shared.")],
    keys_to: Annotated[Path, typer.Option(help="A file, kept elsewhere, for the keys of data subjects.")],
    keys_days: Annotated[float, typer.Option(min=0, help="That file goes after so many days.")] = 14,
) -> None:
    """Back up database, blobs and archived events.

    The deployment keeps running meanwhile.

    Not in it: `secret`, the settings, and the keys of data subjects with their master keys (`--keys-to`).
    Without those nothing in it that is about a person can be read. Keep them apart, and for a short time: a person
    who is erased can be read again with a copy of the keys. The newest copy always stays.
    """
    home: Path = context.obj
    with started_if_needed(home) as settings:
        folder, made = asyncio.run(take(settings, to))
        asyncio.run(keep_keys(settings, keys_to, days=keys_days))
        left = asyncio.run(_copies(settings))
    blobs = f"{made.blobs} blobs" if made.blobs is not None else f"no blobs (they lie at {settings.blobs.url})"
    console.print(f"{made.events} events, {blobs}, {len(made.archives)} archived files: {folder}")
    console.print(f"Keys: {keys_to}. Keep them apart, like the secret and the settings.")
    for one in left[1:]:
        console.print(f"An older copy of the keys goes on {one.until:%Y-%m-%d}: {one.path}")


async def _copies(settings: Settings) -> list[KeyCopy]:
    async with connected(settings.database_url) as conn:
        return await copies_left(conn)


def restore(
    context: typer.Context,
    source: Annotated[
        Path, typer.Option("--from", help="A backup, or a folder of them: then the newest.", exists=True)
    ],
    keys: Annotated[Path, typer.Option(help="The file that `backup --keys-to` wrote.", exists=True)],
    as_of: Annotated[
        datetime | None, typer.Option(formats=FORMATS, help="Go back further, to the state of this time (UTC).")
    ] = None,
) -> None:
    """Restore a backup into an empty database and folder.

    The exit code is 1 if the restored tables differ from the saved ones.

    Nothing is sent afterwards until `correspondent deliveries release`: the deployment does not know
    what it sent after the backup was taken.
    """
    home: Path = context.obj
    folder = newest(source)
    made = read(folder)
    with started_if_needed(home) as settings:
        until = as_of.replace(tzinfo=UTC) if as_of and not as_of.tzinfo else as_of
        raise typer.Exit(asyncio.run(_restore(settings, folder, made, keys, until)))


async def _restore(settings: Settings, folder: Path, made: Manifest, keys: Path, until: datetime | None) -> int:
    if until:
        refuse_archived(made.archived_until, until)
    await restoring.refuse_old_topics(settings)
    await restoring.load(settings, folder, keys)
    await restoring.hold(settings, made)
    blobs = await restoring.copy_files(settings, folder, made)
    forgotten = await take_back(settings, until) if until else 0
    different = await restoring.fold_tables(settings, made)
    async with open_app(settings) as app, connected(settings.database_url, app.keys) as conn:
        await app.cache.drop_about([settings.workspace])
        await restoring.give_all_vectors(app, conn)
        told = await restoring.publish_undone(app)
    files = f"{blobs} blobs and {len(made.archives)} archived files"
    console.print(f"{made.events} events of {made.taken_at:%Y-%m-%d %H:%M:%S} UTC, {files} are back.")
    if told:
        console.print(f"{told} events that somebody has still to do are on the log.")
    if until:
        console.print(f"{forgotten} of them came after {until:%Y-%m-%d %H:%M:%S} UTC and are forgotten.")
    else:
        console.print(f"Tables that are not what they were: {', '.join(different) or 'none'}.")
    console.print("Nothing is sent until you say so: `correspondent deliveries release`.")
    return 1 if different and not until else 0
