"""Probes and metrics of a running process, over real HTTP."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.app import open_app
from services.core.bus.group import make_source
from services.core.probes import Probes, run_probes
from services.core.settings.web import MonitoringSettings
from services.core.web import AddressTaken
from services.operations.health.watch import HealthGauges, look
from services.operations.preparation import prepare, topic_specs
from services.process import working
from services.read_email import PROCESSOR
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.bus import PATIENCE_S
from tests.support.letters import letter
from tests.support.proxy import FaultProxy

NAMES = ("read_email", "track_threads", "keep_time")


async def ask(port: int, path: str) -> tuple[int, str]:
    """The status and text of an answer."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{port}{path}", timeout=120)
    return answer.status_code, answer.text


def metric(text: str, name: str) -> float:
    """The value of a series, 0 where it is not there yet."""
    found = re.search(rf"^{re.escape(name)} (\S{{1,40}})$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


async def until_ready(port: int, path: str, status: int, says: Collection[str] = ()) -> str:
    """Ask until the answer has the status and these lines; its text."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                got, text = await ask(port, path)
            except httpx.TransportError:
                got, text = 0, ""
            if got == status and set(says) <= set(text.splitlines()):
                return text
            await asyncio.sleep(0.2)


async def test_a_process_said_nothing_of_how_it_does(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Each process is ready once its partitions are assigned, lives, and counts what it handles; no secret is shown."""
    port = free_port()
    settings = settings_for(stack, database, topic_prefix, tmp_path, monitoring={"enabled": True, "port": port})
    await prepare(settings)
    done = 'correspondent_handler_seconds_count{outcome="done",processor="read_email"}'
    async with open_app(settings) as app, working(app, NAMES):
        parts = {"postgres: ok", "kafka: ok", "redis: ok", "partitions of read_email: ok"}
        await until_ready(port, "/readyz", 200, parts)
        assert (await ask(port, "/livez"))[0] == 200
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
        async with asyncio.timeout(120):
            while metric((await ask(port, "/metrics"))[1], done) < 1:
                await asyncio.sleep(0.1)
        gauges = HealthGauges()
        await look(app, frozenset(), gauges)
        shown = {family.name: [one.value for one in family.samples] for family in gauges.families()}
        assert shown["correspondent_broker_answers"] == [1]
        text = (await ask(port, "/metrics"))[1]
        [raw] = [one for one in topic_specs(settings) if one.name.endswith("inbound-email.raw")]
        assert metric(text, 'correspondent_partitions_held{processor="read_email"}') == raw.partitions
        assert metric(text, 'correspondent_lag_records{processor="read_email"}') == 0
        assert (await ask(port, "/else"))[0] == 404
        for secret in ("ourcompany.example", "a secret for tests", "postgres:"):
            assert secret not in text


async def test_a_database_that_is_away_restarts_nothing(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """While Postgres does not answer the process is not ready, and lives; then it is ready again by itself."""
    port, place = free_port(), urlsplit(database)
    async with FaultProxy(place.hostname or "", place.port or 0) as proxy:
        through = place._replace(netloc=f"{place.username}:{place.password}@{proxy.address}").geturl()
        settings = settings_for(
            stack, through, topic_prefix, tmp_path, monitoring={"enabled": True, "port": port}, pool_size=2
        )
        await prepare(settings)
        async with open_app(settings) as app, working(app, ("read_email",)):
            await until_ready(port, "/readyz", 200)
            proxy.refuse()
            assert "postgres: does not answer" in await until_ready(port, "/readyz", 503)
            assert (await ask(port, "/livez"))[0] == 200
            proxy.resume()
            await until_ready(port, "/readyz", 200)


async def test_a_consumer_that_died_was_restarted_by_nobody(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A consumer without partitions is not ready, one whose worker has ended does not live, and both are said."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        source = make_source(PROCESSOR, app)
        probes = Probes(app, {"read_email": source})
        status, _, body = await probes.answer("/readyz")
        assert (status, b"partitions of read_email: not assigned yet" in body) == (503, True)
        await source.start()
        try:
            await source.ready
            assert [(await probes.answer(path))[0] for path in ("/readyz", "/livez")] == [200, 200]
            client = source._consumer._thread._consumer  # type: ignore[union-attr]
            client._fetcher._loop.call_soon_threadsafe(client._fetcher._fetch_task.cancel)
            async with asyncio.timeout(120):
                while (await probes.answer("/livez"))[0] == 200:
                    await asyncio.sleep(0.1)
            assert b"read_email: its client has ended" in (await probes.answer("/livez"))[2]
        finally:
            await source.stop()


async def test_a_second_process_on_the_machine_takes_a_free_port(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A port that was set must be free; the default one need not be."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port, stop = taken.getsockname()[1], asyncio.Event()
        async with open_app(settings) as app:
            with pytest.raises(AddressTaken, match=r"monitoring\.port"):
                await run_probes(Probes(app, {}), MonitoringSettings(port=port), stop)
        async with open_app(settings) as app:
            running = asyncio.create_task(
                run_probes(
                    Probes(app, {}),
                    MonitoringSettings.model_construct(_fields_set=set(), port=port, host="127.0.0.1"),
                    stop,
                )
            )
            await asyncio.sleep(0.5)
            assert not running.done()
            stop.set()
            await running
