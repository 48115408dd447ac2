"""What lies in files and objects, read whole: blobs, archived events, and all else below `home`.

As `stores` does, each gives what lies there and what the deployment's own keys make of it; what is packed is unpacked.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path

from schemas.events.mail import MailReceived
from schemas.events.replies import ReplyApproved
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.archive.history import manifests, opened_archive
from services.core.archive.places import Place
from services.core.blobs import BlobMissing
from services.core.db import fetch_all
from services.core.keys import Erased
from services.operations.erase.inside import unpacked
from services.operations.erase.reseal import names_in
from services.operations.erase.stores import BATCH, SQL, Found
from services.operations.rebuild.shadow_schema import connected

# Below home: what other stores are made of, and the trial's SMTP sink, which stands for the world outside.
APART = frozenset({"archive", "blobs", "postgres", "valkey", "kafka", "outbox"})
MAILS = frozenset({MailReceived.TYPE, ReplyApproved.TYPE})


async def blobs(app: App) -> Found:
    """Every file or object of the blob store as it lies; every sealed blob that an event names, opened and unpacked."""
    async for name, content in app.blobs.lying():
        for text in await unpacked(content):
            yield f"blob {name}", text
    async for name, is_mail in _named(app):
        try:
            content = await app.blobs.get(name)
        except (Erased, BlobMissing):
            continue
        for text in await unpacked(content, mail=is_mail):
            yield f"blob {name}, opened", text


async def archives(app: App) -> Found:
    """Every file at each place of archived events, unpacked; every archived event that can be read, opened."""
    archive = archive_of(app.settings)
    async with connected(app.settings.database_url, app.keys) as conn:
        for elsewhere in sorted({"", *(one.place for one in await manifests(conn))}):
            place = archive.at(elsewhere)
            for name in await asyncio.to_thread(place.names):
                lines = _lines(place, name)
                while some := await asyncio.to_thread(_next, lines):
                    for line in some:
                        yield f"archive {name}", line
        async for row in opened_archive(conn, archive):
            if row.sealed is not None:
                yield f"archived event {row.id}, opened", json.dumps(row.data, ensure_ascii=False)


async def files(app: App) -> Found:
    """Every other file below home, unpacked: logs, keys, settings."""
    home = Path(app.settings.home)
    for path in _below(home):
        if path.relative_to(home).parts[0] not in APART:
            for text in await unpacked(await asyncio.to_thread(path.read_bytes)):
                yield f"file {path.relative_to(home)}", text


def _lines(place: Place, name: str) -> Iterator[str | None]:
    """The lines of a file of archived events; None where it is none, or damaged."""
    try:
        with place.open(name) as raw, gzip.open(raw, "rt", encoding="utf-8", errors="replace") as packed:
            yield from packed
    except (OSError, EOFError, zlib.error):
        yield None


async def _named(app: App) -> AsyncIterator[tuple[str, bool]]:
    """The sealed blobs that an event names which the deployment can still read, and whether each is a mail."""
    async with connected(app.settings.database_url, app.keys) as conn:
        after = 0
        while rows := await fetch_all(conn, SQL.naming_blobs, {"after": after, "limit": BATCH}):
            for row in rows:
                for name in names_in(json.dumps(row["data"])):
                    yield name, row["type"] in MAILS
            after = rows[-1]["seq"]
        async for event in opened_archive(conn, archive_of(app.settings)):
            for name in names_in(json.dumps(event.data)):
                yield name, event.type in MAILS


def _below(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _next(lines: Iterator[str | None]) -> list[str | None]:
    return list(islice(lines, BATCH))
