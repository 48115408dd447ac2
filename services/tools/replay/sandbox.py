"""A house in which nothing that is done gets out: its own tables, cache keys and blobs, no broker, no SMTP.

What it stores is gone with it, and is not sealed; the keys open what the house has stored.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from services.core.blobs import BlobMissing, Blobs, BlobStore
from services.core.bus.delivery import Record
from services.core.bus.publisher import Publisher
from services.core.cache import Cache
from services.core.clock import monotonic, utc_now
from services.core.db import Connection, Database
from services.core.db.locks import Locks
from services.core.house import House, installation_secret, make_blobs, make_embedder, open_keys
from services.core.mail.authentication import DnsResolver
from services.core.model.breaker import Breakers
from services.core.sealed_blobs import SealedBlobs
from services.core.settings import KafkaSettings, Settings, SmtpSettings
from services.tools.rebuild.beside import beside, connected
from services.tools.replay.model import Asking, chosen_model

NOWHERE = "replay.invalid"  # RFC 6761: never resolves
POOL = 12  # the layers of a context are read at once


class KeptRecords(Publisher):
    """A publisher that keeps what it is given, for whoever looks, and sends nothing."""

    def __init__(self) -> None:
        super().__init__(NOWHERE)
        self.kept: list[Record] = []

    async def publish(self, records: Sequence[Record]) -> None:
        """Keep the records."""
        self.kept += records


class OverlaidBlobs(Blobs):
    """Reads what the house has stored; what is stored now goes aside."""

    def __init__(self, aside: Path, house: BlobStore) -> None:
        super().__init__(aside)
        self._house = house

    async def get(self, sha256: str) -> bytes:
        """The content, from aside or from the house. Raises `BlobMissing` or `BlobDamaged`."""
        try:
            return await super().get(sha256)
        except BlobMissing:
            return await self._house.get(sha256)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The scratch house and a connection to its tables. `name` is the replay mark."""

    name: str
    house: House
    tables: Connection
    asking: Asking


def sandbox_name(at: datetime) -> str:
    """The name of a sandbox that is opened now: two at once have two schemas."""
    return f"replay_{at:%Y%m%d_%H%M%S_%f}"


@asynccontextmanager
async def open_sandbox(settings: Settings, asking: Asking) -> AsyncIterator[Sandbox]:
    """A sandbox for the house of these settings; nothing is left of it afterwards."""
    name = sandbox_name(utc_now())
    async with beside(settings.database_url, name) as url, connected(url) as tables:
        with tempfile.TemporaryDirectory(prefix=name) as aside:
            async with open_keys(settings) as keys:
                house = _house(
                    settings, asking, name, url, SealedBlobs(OverlaidBlobs(Path(aside), make_blobs(settings)), keys)
                )
                await house.database.open()
                try:
                    yield Sandbox(name, house, tables, asking)
                finally:
                    await house.locks.close()
                    await house.model.close()
                    await house.cache.close()
                    await house.database.close()


def _house(settings: Settings, asking: Asking, name: str, url: str, blobs: SealedBlobs) -> House:
    inside = settings.model_copy(
        update={
            "database_url": url,
            "kafka": KafkaSettings(brokers=NOWHERE),
            "smtp": SmtpSettings(host=NOWHERE, port=1, timeout_s=1),
        }
    )
    model = chosen_model(asking, settings.model)
    return House(
        settings=inside,
        database=Database(url, size=POOL),
        blobs=blobs,
        cache=Cache(settings.redis_url, prefix=f"{name}:"),
        model=Breakers(monotonic).guard(model, workspace=settings.workspace, key=settings.model.key),
        embedder=make_embedder(settings.embeddings),
        publisher=KeptRecords(),
        resolver=DnsResolver(),
        locks=Locks(url),
        secret=installation_secret(settings),
    )
