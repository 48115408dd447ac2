"""Every place in which the house keeps something, read whole: what lies there, and what its own keys make of it.

Each store gives (place, text) pairs. What is sealed is given twice, as it lies there and opened, where its key exists;
so a search sees what a thief of the disk sees, and what the house itself can still read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from psycopg import sql

from schemas.topics import catalogue
from services.core.blobs import BlobMissing
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.delivery import Delivery
from services.core.bus.topics_admin import ends
from services.core.db import Connection, fetch_all, keys_of, queries
from services.core.errors import CorrespondentError
from services.core.house import House
from services.core.keys import Erased
from services.pipeline import consumers
from services.tools.erase.resealing import names_in
from services.tools.log import read
from services.tools.rebuild.beside import connected

SQL = queries(__file__, "stores.sql")
BATCH = 500
# Below home: what the other stores are made of, and the trial's SMTP sink, which stands for the world outside.
APART = frozenset({"blobs", "postgres", "valkey", "kafka", "outbox"})

Found = AsyncIterator[tuple[str, str]]


async def tables(house: House) -> Found:
    """Every row of every table of the database, as text."""
    async with connected(house.settings.database_url, house.keys) as conn:
        for row in await fetch_all(conn, SQL.tables):
            async for one in _rows(conn, row["schema"], row["name"]):
                yield f"table {row['schema']}.{row['name']}", one


async def cache(house: House) -> Found:
    """Every key and value of Redis, those of others on the same server included."""
    async for name, value in house.cache.everything():
        yield "Redis", f"{name} {value}"


async def topics(house: House) -> Found:
    """Every record of every topic and of every group's dead letters, by a consumer of its own."""
    prefix, brokers = house.settings.kafka.topic_prefix, house.settings.kafka.brokers
    names = [prefix + one for one in catalogue().topics]
    names += [dead_letter_topic(prefix + topic, prefix + group) for topic, group in consumers()]
    async for record in read(brokers, {}, await ends(brokers, names)):
        yield f"topic {record.topic}", _as_text(record)
        if opened := await _opened(house, record):
            yield f"topic {record.topic}, opened", opened


async def files(house: House) -> Found:
    """Every blob, as it lies there and opened; and every other file below home: logs, keys, settings."""
    home = Path(house.settings.home)
    for path in _below(home / "blobs"):
        yield f"blob {path.relative_to(home)}", _text(path.read_bytes())
    async for name in _named_blobs(house):
        try:
            yield f"blob {name}, opened", _text(await house.blobs.get(name))
        except (Erased, BlobMissing):
            continue
    for path in _below(home):
        if path.relative_to(home).parts[0] not in APART:
            yield f"file {path.relative_to(home)}", _text(path.read_bytes())


async def _named_blobs(house: House) -> AsyncIterator[str]:
    """The sealed blobs that an event names which the house can still read."""
    async with connected(house.settings.database_url, house.keys) as conn:
        after = 0
        while rows := await fetch_all(conn, SQL.naming_blobs, {"after": after, "limit": BATCH}):
            for row in rows:
                for name in names_in(_json(row["data"])):
                    yield name
            after = rows[-1]["seq"]


async def _rows(conn: Connection, schema: str, table: str) -> AsyncIterator[str]:
    """Rows as JSON, and once more with what is sealed in them opened."""
    keys = keys_of(conn)
    query = sql.SQL("SELECT to_jsonb(t) AS row FROM {} t").format(sql.Identifier(schema, table))
    async with conn.transaction(), conn.cursor(name="proof") as cursor:
        await cursor.execute(query)
        while batch := await cursor.fetchmany(BATCH):
            for row in batch:
                yield _json(row["row"])
            inner = [row["row"] for row in batch]
            if keys:
                await keys.open_rows(inner)
            for opened in inner:
                if "sealed" in opened or "answer" in opened:
                    yield _json(opened)


async def _opened(house: House, record: Delivery) -> str:
    """What the house itself can still read of a record: its value, and a dead letter's sealed words."""
    parts = [record.value or b"", *(value for name, value in record.headers if name == "dlq_error_message")]
    found = []
    for part in parts:
        try:
            clear, sealed = await house.keys.open_bytes(part)
        except (CorrespondentError, ValueError):
            continue
        found += [_json(json.loads(clear))] if sealed else []
    return " ".join(found)


def _as_text(record: Delivery) -> str:
    headers = " ".join(f"{name}: {_text(value)}" for name, value in record.headers)
    return f"{_text(record.key or b'')} {headers} {_text(record.value or b'')}"


def _below(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


STORES = (tables, cache, topics, files)
