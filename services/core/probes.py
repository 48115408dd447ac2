"""Probes and metrics of one process, on a port of its own: `/livez`, `/readyz`, `/metrics`.

Invariants
- `/livez` fails only where a restart of the process helps: a consumer that no longer works. It asks nobody outside, so
  that a database that is away for a moment restarts nothing.
- `/readyz` fails until the partitions are assigned, and while Postgres or Kafka does not answer. Redis is only a cache:
  that it is away is said, and nothing more.
- Answers name parts, and never what they said: addresses and passwords stand in such messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from prometheus_client.core import GaugeMetricFamily

from services.core.app import App
from services.core.bus.faust_source import FaustSource
from services.core.db import fetch_one
from services.core.metrics import CONTENT_TYPE, gauge
from services.core.settings import WebSettings
from services.core.settings.web import MonitoringSettings
from services.core.web import AddressTaken, listen, serve

log = structlog.get_logger(__name__)

ASK_S = 3.0

Answer = tuple[int, str, bytes]


@dataclass(frozen=True, slots=True)
class Probes:
    """What is asked of the process. `sources` are its consumers by name; they may still be starting."""

    app: App
    sources: Mapping[str, FaustSource]
    asks_model: bool = False

    async def live(self) -> dict[str, str]:
        """What is wrong with each consumer, "" where nothing is."""
        names = list(self.sources)
        found = await asyncio.gather(*(self.sources[name].trouble(ASK_S) for name in names))
        return dict(zip(names, found, strict=True))

    async def ready(self) -> dict[str, str]:
        """What is wrong with each part that the process stands on, "" where nothing is."""
        app = self.app
        asked = {"postgres": _postgres(app), "kafka": app.publisher.answers(), "redis": app.cache.answers()}
        answers = await asyncio.gather(*(_in_time(one) for one in asked.values()))
        parts = {name: "" if answer else "does not answer" for name, answer in zip(asked, answers, strict=True)}
        for name, source in self.sources.items():
            parts[f"partitions of {name}"] = "" if source.assigned else "not assigned yet"
        return parts

    def families(self) -> Iterator[GaugeMetricFamily]:
        """Gauges of this process's consumers, and of its model."""
        sources = self.sources
        held = {name: float(one.partitions) for name, one in sources.items()}
        yield gauge("partitions_held", "Partitions that are assigned to this process.", "processor", held)
        lag = {name: float(one.lag()) for name, one in sources.items()}
        yield gauge("lag_records", "Records of these partitions that are not done.", "processor", lag)
        admitted = {name: float(one.unfinished) for name, one in sources.items()}
        yield gauge("admitted_events", "Events taken on and not done.", "processor", admitted)
        now = self.app.now().timestamp()
        oldest = {name: one.oldest_s(now) for name, one in sources.items()}
        yield gauge("oldest_event_seconds", "Age of the oldest event taken on and not done.", "processor", oldest)
        yield gauge(
            "model_circuit_open", "1 while this process asks the model nothing.", values=float(self._model_is_away())
        )

    def _model_is_away(self) -> bool:
        return self.asks_model and self.app.model.state.mode != "closed"

    async def answer(self, path: str) -> Answer:
        """The status, content type and body for a path."""
        if path == "/metrics":
            return 200, CONTENT_TYPE, self.app.metrics.text()
        if path == "/livez":
            return _said(await self.live())
        if path == "/readyz":
            return _said(await self.ready(), unneeded={"redis"})
        return 404, "text/plain; charset=utf-8", b"there are /livez, /readyz and /metrics\n"

    async def asgi(self, scope: Mapping[str, Any], receive: object, send: Callable[[Any], Awaitable[None]]) -> None:
        """The same as an ASGI application."""
        if scope["type"] != "http":
            return
        status, kind, body = await self.answer(scope["path"])
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def run_probes(probes: Probes, settings: MonitoringSettings, stop: asyncio.Event) -> None:
    """Answer until `stop`. Raises `AddressTaken` where the settings name a port that another process has."""
    probes.app.metrics.show(probes.families)
    wanted = WebSettings(host=settings.host, port=settings.port)
    try:
        listening = listen(wanted)
    except AddressTaken:
        if "port" in settings.model_fields_set:
            raise AddressTaken(f"cannot listen on {settings.host} port {settings.port}: set monitoring.port") from None
        listening = listen(wanted.model_copy(update={"port": 0}))
    log.info("probes and metrics", host=settings.host, port=listening.getsockname()[1])
    await serve(probes.asgi, listening, stop)


def _said(parts: Mapping[str, str], unneeded: frozenset[str] | set[str] = frozenset()) -> Answer:
    failed = any(words for name, words in parts.items() if name not in unneeded)
    lines = [f"{name}: {words or 'ok'}" for name, words in parts.items()]
    return 503 if failed else 200, "text/plain; charset=utf-8", ("\n".join(lines or ["ok"]) + "\n").encode()


async def _postgres(app: App) -> bool:
    async with app.database.reading() as conn:
        return await fetch_one(conn, "SELECT 1 AS one") is not None


async def _in_time(asked: Awaitable[bool]) -> bool:
    try:
        async with asyncio.timeout(ASK_S):
            return await asked
    except Exception as error:
        log.debug("a part does not answer", error=repr(error))
        return False
