"""A deployment in which nothing that is done gets out: its own tables, cache keys and blobs, no broker, no SMTP.

What it stores is gone with it, and is not sealed; the keys open what the deployment has stored.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog
from redis.exceptions import RedisError

from services.core.app import App, installation_secret, make_blobs, make_embedder, open_keys
from services.core.blobs import BlobMissing, Blobs, BlobStore
from services.core.bus.delivery import Record
from services.core.bus.publisher import Outcome, Publisher
from services.core.clock import monotonic, utc_now
from services.core.db import Connection, Database
from services.core.db.locks import Locks
from services.core.keys import Keys, SubjectKey
from services.core.sealed_blobs import SealedBlobs
from services.core.settings import KafkaSettings, Settings, SmtpSettings
from services.core.stored_settings import Stored, read_stored
from services.mail.authentication import DnsResolver
from services.model.breaker import Breakers
from services.operations.rebuild.shadow_schema import beside, connected
from services.operations.replay.leftovers import cache_of, clear_leftovers, clear_up, files_of, sandbox_name
from services.operations.replay.model import Asking, chosen_model

# The blobs of a sandbox: those of the case and of the deployment, and aside those that are stored while it runs.


class OverlaidBlobs(Blobs):
    """Reads what the deployment has stored; what is stored now goes aside."""

    def __init__(self, aside: Path, app: BlobStore) -> None:
        super().__init__(aside)
        self._app = app

    async def get(self, sha256: str) -> bytes:
        """The content, from aside or from the deployment. Raises `BlobMissing` or `BlobDamaged`."""
        try:
            return await super().get(sha256)
        except BlobMissing:
            return await self._app.get(sha256)


class CaseBlobs(SealedBlobs):
    """Has what a case holds, else what the deployment holds; remembers by name what of them was read."""

    def __init__(self, store: BlobStore, keys: Keys) -> None:
        super().__init__(store, keys)
        self._given: Mapping[str, bytes] = {}
        self._made: set[str] = set()
        self.taken: dict[str, bytes] = {}

    def begin(self, given: Mapping[str, bytes]) -> None:
        """From here on, a case with these blobs is played."""
        self._given, self._made, self.taken = given, set(), {}

    async def put(self, content: bytes, key: SubjectKey | None = None) -> str:
        """Store `content` aside."""
        name = await super().put(content, key)
        self._made.add(name)
        return name

    async def get(self, name: str) -> bytes:
        """The content of this name. Raises as `SealedBlobs` does."""
        content = self._given[name] if name in self._given else await super().get(name)
        if name not in self._made:
            self.taken[name] = content
        return content


log = structlog.get_logger(__name__)

NOWHERE = "replay.invalid"  # RFC 6761: never resolves
POOL = 12  # the layers of a context are read at once


class KeptRecords(Publisher):
    """A publisher that keeps what it is given, for whoever looks, and sends nothing."""

    def __init__(self) -> None:
        super().__init__(NOWHERE)
        self.kept: list[Record] = []

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """Keep the records."""
        self.kept += records
        return [None] * len(records)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The scratch deployment and a connection to its tables. `name` is the replay mark."""

    name: str
    app: App
    tables: Connection
    blobs: CaseBlobs
    asking: Asking


@asynccontextmanager
async def open_sandbox(settings: Settings, asking: Asking) -> AsyncIterator[Sandbox]:
    """A sandbox for the deployment of these settings; nothing is left of it afterwards."""
    await _with_or_without_cache(clear_leftovers(settings))
    name = sandbox_name(utc_now())
    async with beside(settings.database_url, name) as url, connected(url) as tables, open_keys(settings) as keys:
        blobs = CaseBlobs(OverlaidBlobs(files_of(settings, name), make_blobs(settings)), keys)
        app = _app(settings, asking, name, url, blobs)
        app.take_stored(await _stored(settings))
        await app.database.open()
        try:
            yield Sandbox(name, app, tables, blobs, asking)
        finally:
            await app.locks.close()
            await app.model.close()
            await app.cache.close()
            await app.database.close()
            await _with_or_without_cache(clear_up(settings, name))


async def _stored(settings: Settings) -> Stored:
    """What people changed in the deployment, by which its processes go, too."""
    database = Database(settings.database_url, size=1)
    await database.open()
    try:
        return await read_stored(database, settings.workspace)
    finally:
        await database.close()


async def _with_or_without_cache(clearing: Awaitable[object]) -> None:
    """A cache that is away keeps nobody from replaying; its keys have an end of their own."""
    try:
        await clearing
    except (RedisError, OSError) as error:
        log.warning("cached texts of replays could not be removed, they end by themselves", error=str(error))


def _app(settings: Settings, asking: Asking, name: str, url: str, blobs: SealedBlobs) -> App:
    inside = settings.model_copy(
        update={
            "database_url": url,
            "kafka": KafkaSettings(brokers=NOWHERE),
            "smtp": SmtpSettings(host=NOWHERE, port=1, timeout_s=1),
        }
    )
    embedder = make_embedder(settings.embeddings)
    model = chosen_model(asking, settings.model, embedder)
    return App(
        settings=inside,
        database=Database(url, size=POOL),
        blobs=blobs,
        cache=cache_of(settings, name),
        model=Breakers(monotonic).guard(model, workspace=settings.workspace, key=settings.model.key),
        embedder=embedder,
        publisher=KeptRecords(),
        resolver=DnsResolver(),
        locks=Locks(url),
        secret=installation_secret(settings),
    )
