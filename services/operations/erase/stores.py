"""What servers keep of the deployment, read whole: Postgres, Redis, Kafka.

Each store gives (place, text) pairs. What is sealed is given twice, as it lies there and opened, where its key exists;
so a search sees what a thief of the disk sees, and what the deployment itself can still read. Ciphertext is left out of
the former: among enough of it every short word stands by chance.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

from psycopg import sql

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.delivery import Delivery
from services.core.bus.topics_admin import ends
from services.core.db import Connection, fetch_all, keys_of, queries
from services.core.errors import CorrespondentError
from services.core.keys import is_sealed
from services.core.keys.aead import SEALED
from services.operations.log import read
from services.operations.rebuild.shadow_schema import connected
from services.pipeline import consumers

SQL = queries(__file__, "stores.sql")
BOX = re.compile(r"[A-Za-z0-9+/]*={0,2}")
BATCH = 500

Found = AsyncIterator[tuple[str, str | None]]  # None: something there cannot be looked into


async def tables(app: App) -> Found:
    """Every row of every table of the database, as text."""
    async with connected(app.settings.database_url, app.keys) as conn:
        for row in await fetch_all(conn, SQL.tables):
            async for one in _rows(conn, row["schema"], row["name"]):
                yield f"table {row['schema']}.{row['name']}", one


async def cache(app: App) -> Found:
    """Every key and value of Redis, those of others on the same server included."""
    async for name, value in app.cache.everything():
        yield "Redis", f"{name} {value}"


async def topics(app: App) -> Found:
    """Every record of every topic and of every group's dead letters, by a consumer of its own."""
    prefix, brokers = app.settings.kafka.topic_prefix, app.settings.kafka
    names = [prefix + one for one in catalogue().topics]
    names += [dead_letter_topic(prefix + topic, prefix + group) for topic, group in consumers()]
    async for record in read(brokers, {}, await ends(brokers, names)):
        yield f"topic {record.topic}", _as_text(record)
        if opened := await _opened(app, record):
            yield f"topic {record.topic}, opened", opened


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


async def _opened(app: App, record: Delivery) -> str:
    """What the deployment itself can still read of a record: its value, and a dead letter's sealed words."""
    parts = [record.value or b"", *(value for name, value in record.headers if name == "dlq_error_message")]
    found = []
    for part in parts:
        try:
            clear, sealed = await app.keys.open_bytes(part)
        except (CorrespondentError, ValueError):
            continue
        found += [_json(json.loads(clear))] if sealed else []
    return " ".join(found)


def _as_text(record: Delivery) -> str:
    headers = " ".join(f"{name}: {_lying(value)}" for name, value in record.headers)
    return f"{_text(record.key or b'')} {headers} {_lying(record.value or b'')}"


def _lying(content: bytes) -> str:
    """A record's bytes as they lie there, without the ciphertext where it is sealed JSON."""
    text = _text(content)
    if SEALED not in text:
        return text
    try:
        return _json(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _json(value: Any) -> str:
    return json.dumps(_in_the_clear(value), ensure_ascii=False)


def _in_the_clear(value: Any) -> Any:
    """JSON without what is sealed in it."""
    if isinstance(value, list):
        return [_in_the_clear(one) for one in value]
    if not isinstance(value, dict):
        return value
    box = is_sealed(value) and _is_box(value[SEALED])
    return {name: _in_the_clear(one) for name, one in value.items() if not (box and name == SEALED)}


def _is_box(value: object) -> bool:
    """Whether it is what a sealed part looks like: anything else is text that somebody put there."""
    return isinstance(value, str) and BOX.fullmatch(value) is not None
