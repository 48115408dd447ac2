"""What every processor stands on: settings, database, blobs, cache, model, embedder, publisher, clock."""

from __future__ import annotations

import copy
import secrets as _secrets  # noqa: TID251 - the one place where the installation's own secret is made
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from services.core.blobs import Blobs, BlobStore
from services.core.bus.bell import Bell
from services.core.bus.group_commit import GroupCommit
from services.core.bus.reply_load import ReplyLoad
from services.core.clock import monotonic, utc_now
from services.core.db import Database
from services.core.db.locks import Locks
from services.core.deferred import Deferred, DeferredPublisher
from services.core.keys import Keys, read_master_keys
from services.core.sealed_blobs import SealedBlobs
from services.core.stored_settings import InForce, Stored, read_stored
from services.mail.tokens import SigningKeys

if TYPE_CHECKING:  # each costs tenths of a second, and a command that only looks needs few of them
    from services.core.bus.publisher import Publisher
    from services.core.cache import Cache
    from services.core.metrics import Metrics
    from services.core.settings import EmbeddingSettings, Settings
    from services.mail.authentication.results import Resolver
    from services.memory.embeddings import Embedder
    from services.model.breaker import GuardedModel
    from services.model.port import Model


@dataclass(frozen=True, slots=True)
class App:
    """The needs of handlers, passed in. `now` is for edges and keep_time; handlers use their event's time.

    `settings` are those in force: `take_stored` lays what people changed over those that the process started with,
    which `in_force` keeps. They are the one thing of an App that changes.
    """

    settings: Settings
    database: Database
    blobs: SealedBlobs
    cache: Cache
    model: GuardedModel
    embedder: Embedder
    publisher: Publisher
    resolver: Resolver
    locks: Locks
    secret: bytes = field(repr=False)
    now: Callable[[], datetime] = utc_now
    bell: Bell = field(default_factory=Bell, compare=False)
    reply_load: ReplyLoad = field(default_factory=ReplyLoad, compare=False)
    metrics: Metrics = field(default_factory=lambda: cast("Metrics", Deferred(_make_metrics)), compare=False)
    in_force: InForce = field(default=InForce(), compare=False)
    group_commit: GroupCommit = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group_commit", GroupCommit(self.database))

    def as_it_is(self) -> App:
        """The same with the settings of now: for the handling of one event, during which they stay as they are."""
        return copy.copy(self)

    def take_stored(self, stored: Stored) -> None:
        """Lay what is stored over the settings that the process started with; whoever holds this App reads it so."""
        from services.core.settings.changeable import laid_over

        given = self.in_force.given or self.settings
        laid = laid_over(given, {name: one.value for name, one in stored.values.items()})
        object.__setattr__(self, "in_force", InForce(given, stored, laid.ignored))
        object.__setattr__(self, "settings", laid.settings)

    @property
    def signing_keys(self) -> SigningKeys:
        """The keys of reply tokens: the secret makes them, former ones are still honoured."""
        return SigningKeys((self.secret, *(one.get_secret_value().encode() for one in self.settings.former_secrets)))

    @property
    def keys(self) -> Keys:
        """The keys of data subjects; a sandbox, which seals nothing, has none and needs none."""
        assert self.database.keys is not None
        return self.database.keys


def make_blobs(settings: Settings) -> BlobStore:
    """The store that the settings ask for."""
    if not settings.blobs.url:
        return Blobs(Path(settings.home) / "blobs")
    from services.core.object_blobs import ObjectBlobs

    return ObjectBlobs(settings.blobs)


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder that the settings ask for."""
    from services.memory.embeddings import HttpEmbedder, MiniLM
    from services.memory.multilingual import Multilingual

    if settings.url:
        return HttpEmbedder(settings.url, settings.model, settings.dimensions, settings.api_key.get_secret_value())
    return MiniLM() if settings.model == "minilm" else Multilingual()


def installation_secret(settings: Settings) -> bytes:
    """The secret that reply tokens are made with: from the settings, else made once and kept below `home`."""
    given = settings.secret.get_secret_value()
    if given:
        return given.encode()
    path = settings.home / "secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_secrets.token_hex(32).encode())
    return path.read_bytes()


@asynccontextmanager
async def open_keys(settings: Settings) -> AsyncIterator[Keys]:
    """The keys of data subjects, for the block. Raises `MasterKeysWrong`."""
    given = settings.master_keys.get_secret_value()
    keys = Keys(settings.database_url, lambda: read_master_keys(Path(settings.home), given))
    try:
        yield keys
    finally:
        await keys.close()


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    model: Model | None = None,
    resolver: Resolver | None = None,
    now: Callable[[], datetime] = utc_now,
    publishes: bool = True,
) -> AsyncIterator[App]:
    """A deployment with its connections open; they are closed at the end.

    What a command may never ask for is made, and its library imported, when it is first asked for. The broker is
    spoken to at once, unless `publishes` is False: then it is when the first event is published.
    """
    async with open_keys(settings) as keys:
        guarded = Deferred(lambda: _make_model(settings, model, embedder))
        embedder = cast("Embedder", Deferred(lambda: _make_embedder(settings, database, now)))
        cache = Deferred(lambda: _make_cache(settings))
        database = Database(settings.database_url, size=settings.pool_size, keys=keys)
        bell = Bell()
        publisher = DeferredPublisher(lambda: _make_publisher(settings, bell))
        app = App(
            settings=settings,
            database=database,
            blobs=SealedBlobs(make_blobs(settings), keys),
            cache=cast("Cache", cache),
            model=cast("GuardedModel", guarded),
            embedder=embedder,
            publisher=cast("Publisher", publisher),
            resolver=resolver or cast("Resolver", Deferred(_make_resolver)),
            locks=Locks(settings.database_url),
            secret=installation_secret(settings),
            now=now,
            bell=bell,
        )
        try:  # a pool left open takes the cancellation at the end of its loop for a failed connect, and goes on
            await app.database.open()
            app.take_stored(await read_stored(database, settings.workspace))
            if publishes:
                await app.publisher.start()
            yield app
        finally:
            await publisher.stop()
            await app.locks.close()
            if guarded.made or model:
                await app.model.close()
            if cache.made:
                await app.cache.close()
            await app.database.close()


def _make_model(settings: Settings, given: Model | None, embedder: Embedder) -> GuardedModel:
    from services.model.breaker import Breakers, Policy
    from services.model.factory import make_model

    model = given or make_model(settings.model, embedder)
    policy = Policy(pause_s=settings.model.pause_s, longest_pause_s=settings.model.longest_pause_s)
    return Breakers(monotonic, policy).guard(model, workspace=settings.workspace, key=settings.model.key)


def _make_embedder(settings: Settings, database: Database, now: Callable[[], datetime]) -> Embedder:
    made = make_embedder(settings.embeddings)
    if not settings.embeddings.url:
        return made
    from services.core.outages.embedder import WatchedEmbedder

    return WatchedEmbedder(made, database, settings.workspace, now)


def _make_cache(settings: Settings) -> Cache:
    from services.core.cache import Cache

    return Cache(settings.redis_url)


def _make_publisher(settings: Settings, bell: Bell) -> Publisher:
    from services.core.bus.publisher import Publisher

    return Publisher(settings.kafka, idempotent=not settings.kafka.embedded, bell=bell)


def _make_metrics() -> Metrics:
    from services.core.metrics import Metrics

    return Metrics()


def _make_resolver() -> Resolver:
    from services.mail.authentication.results import DnsResolver

    return DnsResolver()
