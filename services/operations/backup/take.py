"""Takes a backup of a running deployment: the database first, then the blobs, stored before any event names them."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path

from services.core.archive.archive import archive_of
from services.core.archive.history import manifests
from services.core.clock import utc_now
from services.core.db import Connection, fetch_one, queries
from services.core.settings import Settings
from services.operations.backup import postgres
from services.operations.backup.files import copy_blobs, write_synced
from services.operations.backup.keys import COPIES, KEYS
from services.operations.backup.manifest import NAME, Manifest
from services.operations.rebuild.projections import projections, state_hash
from services.operations.rebuild.shadow_schema import connected

SQL = queries(__file__)
DUMP, BLOBS, ARCHIVE = "database.dump", "blobs", "archive"
CACHES = ("embeddings",)  # made again from texts
RESIDUES = "residues"  # names files of this server
SESSIONS = ("console_sessions", "oidc_sign_ins")  # who is signed in here, or about to


async def take(settings: Settings, folder: Path) -> tuple[Path, Manifest]:
    """Make a backup in a folder of its own below `folder`; several share the blobs there. Done with the manifest."""
    target = folder / f"{utc_now():%Y%m%dT%H%M%SZ}"
    target.mkdir(parents=True)
    async with connected(settings.database_url) as conn, conn.transaction():
        await conn.execute(SQL.one_moment)
        exported = await fetch_one(conn, SQL.export_snapshot)
        assert exported is not None
        without = (*projections(), *KEYS, COPIES, RESIDUES, *SESSIONS, *CACHES)
        await asyncio.to_thread(
            postgres.dump, settings.database_url, target / DUMP, snapshot=exported["snapshot"], without=without
        )
        archives = await _copy_archives(conn, settings, folder / ARCHIVE)
        extent = await fetch_one(conn, SQL.extent)
        assert extent is not None
        hashes = await state_hash(conn)
    blobs = None
    if not settings.blobs.url:
        blobs = await asyncio.to_thread(copy_blobs, settings.home / BLOBS, folder / BLOBS)
    made = Manifest(
        code_version=version("correspondent"),
        workspace=settings.workspace,
        hashes=hashes,
        archives=tuple(archives),
        blobs=blobs,
        **extent,
    )
    write_synced(target / NAME, made.model_dump_json(indent=1).encode())
    return target, made


async def _copy_archives(conn: Connection, settings: Settings, target: Path) -> list[str]:
    archive, names = archive_of(settings), []
    for one in await manifests(conn):
        if not (target / one.file).exists():
            with archive.open(one.file, one.place) as content:
                write_synced(target / one.file, content.read())
        names.append(one.file)
    return names
