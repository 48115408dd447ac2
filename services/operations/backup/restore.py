"""Restores a backup into an empty database and folder, rebuilds the tables, and holds back what would be sent."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

import structlog
from psycopg import sql

from services.core.app import App, open_keys
from services.core.archive.archive import archive_of
from services.core.archive.history import manifests
from services.core.bus.outbox_relay import refill
from services.core.bus.topics_admin import ends
from services.core.clock import utc_now
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.db.migrate import migrate
from services.core.errors import EmbedderUnavailable, Permanent
from services.core.keys.master import FILE as MASTER
from services.core.settings import Settings
from services.memory.embeddings import EmbedderRefused
from services.operations.backup import postgres
from services.operations.backup.files import copy_blobs
from services.operations.backup.keys import master_beside
from services.operations.backup.manifest import Manifest
from services.operations.backup.take import ARCHIVE, BLOBS, DUMP
from services.operations.preparation import prepare, topic_specs
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from services.operations.vectors.renewal import give_vectors, in_private
from services.pipeline import consumers

SQL = queries(__file__)
HELD = "restored from a backup: what was sent after it is not known here"

log = structlog.get_logger(__name__)


class DeploymentThere(Permanent):
    """The database holds a deployment already; a restore wants an empty one."""


class TopicsInUse(Permanent):
    """The topics hold records that the restored deployment does not know."""


async def refuse_used_database(database_url: str) -> None:
    """Raises `DeploymentThere`."""
    async with connected(database_url) as conn:
        row = await fetch_one(conn, SQL.deployment)
    if row and row["there"]:
        raise DeploymentThere("the database holds a deployment already; a restore needs an empty database")


async def load(settings: Settings, backup: Path, keys: Path | None) -> None:
    """The database as it was, projections still empty. Raises `DeploymentThere` or `DumpFailed`."""
    url = settings.database_url
    await refuse_used_database(url)
    async with connected(url) as conn:
        await conn.execute(SQL.make_app_role)
    await asyncio.to_thread(postgres.load, url, backup / DUMP)
    await asyncio.to_thread(migrate, url)
    if keys:
        await asyncio.to_thread(postgres.load, url, keys)
        await asyncio.to_thread(_bring_master_keys, master_beside(keys), settings.home / MASTER)


def _bring_master_keys(source: Path, to: Path) -> None:
    if source.exists() and not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        to.touch(mode=0o600)
        to.write_bytes(source.read_bytes())


async def hold(settings: Settings, made: Manifest) -> None:
    """Let nothing leave until a person releases it."""
    args = {"now": utc_now(), "taken_at": made.taken_at, "reason": HELD, "workspace": settings.workspace}
    async with connected(settings.database_url) as conn:
        await conn.execute(SQL.hold_sending, args)


async def copy_files(settings: Settings, backup: Path, made: Manifest) -> int:
    """Blobs, and archived files to where the settings say; how many blobs there are. What is there is kept."""
    place = archive_of(settings).at()
    async with connected(settings.database_url) as conn:
        for one in await manifests(conn):
            await asyncio.to_thread(place.keep, one.file, backup.parent / ARCHIVE / one.file)
        await conn.execute(SQL.archives_are_here)
    if made.blobs is None:
        return 0
    return await asyncio.to_thread(copy_blobs, backup.parent / BLOBS, settings.home / BLOBS)


async def fold_tables(settings: Settings, made: Manifest) -> list[str]:
    """Rebuild every table from the events; those whose hash is not the one of the backup."""
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        await fold(conn, settings.database_url, archive=archive_of(settings))
        hashes = await state_hash(conn)
    return [table for table, value in hashes.items() if made.hashes.get(table, value) != value]


async def give_all_vectors(app: App, conn: Connection) -> None:
    """What is searched by its meaning gets its vectors again; where the embedder is away, the deployment sees to it."""
    try:
        for row in await fetch_all(conn, SQL.workspaces):
            await give_vectors(conn, app.embedder, row["workspace"], in_private)
    except (EmbedderUnavailable, EmbedderRefused) as error:
        log.warning("the embedder is away: embeddings are made later", error=str(error))


async def refuse_old_topics(settings: Settings) -> None:
    """Raises `TopicsInUse` where a broker remembers the former deployment: its records would come to this one."""
    if settings.kafka.embedded:
        return
    if any((await ends(settings.kafka, [one.name for one in topic_specs(settings)])).values()):
        raise TopicsInUse(
            f"topics with the prefix {settings.kafka.topic_prefix!r} hold records of a previous deployment: "
            "set kafka.topic_prefix to one that was never used"
        )


async def publish_undone(app: App) -> int:
    """Put on the log what some consumer has still to do; how many. An embedded broker gets it at each start."""
    if app.settings.kafka.embedded:
        return 0
    await prepare(app.settings)
    return await refill(app, consumers())


# A restored deployment taken back further, to any moment before its backup: what came later has not happened.
#
# Causes and effects share their event time, so nothing is left half done; timers alone divide them, and those that were
# pending at the moment are set again. One that was moved since is lost.


class MomentArchived(Permanent):
    """The moment lies in a time whose events are in files already, and files are not cut."""


def refuse_archived(archived_until: datetime | None, until: datetime) -> None:
    """Raises `MomentArchived`."""
    if archived_until and archived_until > until:
        raise MomentArchived(f"events up to {archived_until:%Y-%m-%d %H:%M} UTC are archived; name a later moment")


async def take_back(settings: Settings, until: datetime) -> int:
    """Forget what happened after an event time, before tables are rebuilt; how many events. Raises `MomentArchived`."""
    async with connected(settings.database_url) as conn, conn.transaction():
        archived = await fetch_one(conn, SQL.newest_archived)
        assert archived is not None
        refuse_archived(archived["at"], until)
        await conn.execute(sql.SQL(SQL.choose_later).format(until=sql.Literal(until)))
        for statement in (SQL.forget_receipts, SQL.forget_later_timers, SQL.set_timers_again, SQL.forget_later_work):
            await conn.execute(statement)
        return (await conn.execute(SQL.forget_later)).rowcount
