"""One consumer group's stream of raw records, from Faust into the lanes. Faust only consumes.

Invariants
- One agent, `concurrency=1`, topics as raw bytes: nothing is decoded, reordered or acknowledged here.
- A crash of Faust (a broker that went away, a commit that failed) restarts the app with back-off; the lanes drop what
  had not started, and the group resumes from its committed offsets.
- Several sources run in one process and loop.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import faust

from services.core.bus.faust_consumer import LaneConsumer
from services.core.bus.lanes import Lanes
from services.core.clock import monotonic

log = logging.getLogger(__name__)

STOP_S = 15.0  # how long a Faust app may take to stop before it is left behind
STEADY_S = 60.0  # an app that ran so long starts again without the pauses of earlier failures
RESTART_PAUSES_S = (0.5, 1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What a group consumes, from where, and its patience in seconds.

    On Tansu `session_timeout_s` is 6, and `fetch_wait_s` short: it answers a fetch only after half of that. So is
    `metadata_age_s`: while the topics of a broker that forgot are made anew, a group may join and be given those
    partitions alone that are there by then, and it hears of the others when it next asks what there is.
    """

    brokers: str
    group: str
    topics: tuple[str, ...]
    client_id: str = "correspondent"
    session_timeout_s: float = 30
    rebalance_timeout_s: float = 90
    commit_interval_s: float = 1
    fetch_wait_s: float = 0.5
    metadata_age_s: float = 60

    def faust_options(self) -> dict[str, Any]:
        """The options of the Faust app; ARCHITECTURE.md says why each has its value."""
        return {
            "broker": [f"kafka://{broker.strip()}" for broker in self.brokers.split(",")],
            "broker_client_id": self.client_id,
            "broker_max_poll_interval": 1e8,
            "broker_max_poll_records": 100,
            "stream_buffer_maxsize": 500,
            "broker_session_timeout": self.session_timeout_s,
            "broker_heartbeat_interval": self.session_timeout_s / 10,
            "broker_rebalance_timeout": self.rebalance_timeout_s,
            "broker_request_timeout": self.rebalance_timeout_s + 5,
            "broker_commit_interval": self.commit_interval_s,
            "stream_wait_empty": True,
            "table_standby_replicas": 0,
            "topic_disable_leader": True,
            "topic_allow_declare": False,
            "web_enabled": False,
            "producer_acks": -1,
            "consumer_auto_offset_reset": "earliest",
            "consumer_metadata_max_age_ms": round(self.metadata_age_s * 1000),
            "autodiscover": False,
            "worker_redirect_stdouts": False,
        }


class _App(faust.App):
    def _create_directories(self) -> None:
        """Tables would be kept there; we have none."""


class FaustSource:
    """Consumes `settings.topics` as `settings.group` and submits every record to `lanes`."""

    def __init__(self, settings: SourceSettings, lanes: Lanes) -> None:
        if lanes.limits.longest_attempt_s >= settings.rebalance_timeout_s:
            raise ValueError("a handler's timeout must end before the rebalance's, else its partitions are lost")
        self._settings, self._lanes = settings, lanes
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._app: _App | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> Awaitable[None]:
        """Done once the group's partitions were assigned for the first time, be it none."""
        return asyncio.shield(self._ready)

    async def start(self) -> None:
        """Start consuming; a broker that does not answer yet is tried until `stop`."""
        _quiet_faust()
        self._keeper = asyncio.create_task(self._keep_running(), name=f"source {self._settings.group}")

    async def stop(self, timeout_s: float = 60) -> None:
        """Admit nothing more, let what runs end within `timeout_s`, commit, leave the group."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        app, self._app = self._app, None
        if app is not None:
            app.flow_control.suspend()
            app.flow_control.clear()
            app.consumer.stop_flow()
        await self._lanes.drain(timeout_s)
        if app is not None:
            await self._stop_app(app)

    async def _keep_running(self) -> None:
        failures = 0
        while True:
            self._app = self._make_app()
            began = monotonic()
            try:
                await self._app.start()
                await self._app.wait_until_stopped()
                reason = self._app.crash_reason
            except Exception as error:
                reason = error
            pause = RESTART_PAUSES_S[min(failures, len(RESTART_PAUSES_S) - 1)]
            failures = failures + 1 if monotonic() - began < STEADY_S else 0
            log.warning("consumer %s stopped (%r), starts again in %.1f s", self._settings.group, reason, pause)
            self._lanes.revoked()
            await self._stop_app(self._app)
            await asyncio.sleep(pause)

    def _make_app(self) -> _App:
        app = _App(self._settings.group, **self._settings.faust_options())
        app.finalize()
        app.in_worker = True
        make = functools.partial(
            LaneConsumer,
            lanes=self._lanes,
            on_assigned=self._assigned,
            fetch_wait_ms=round(self._settings.fetch_wait_s * 1000),
        )
        vars(app.transport)["Consumer"] = make
        topic = app.topic(
            *self._settings.topics, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw"
        )
        app.agent(topic, concurrency=1, name=f"{self._settings.group}.lanes")(functools.partial(_submit_all, app))
        return app

    def _assigned(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    async def _stop_app(self, app: _App) -> None:
        try:
            async with asyncio.timeout(STOP_S):
                await app.stop()
        except Exception as error:
            log.warning("consumer %s did not stop cleanly: %r", self._settings.group, error)


async def _submit_all(app: _App, stream: Any) -> None:
    async for event in stream.noack().events():
        await cast(LaneConsumer, app.consumer).submit(event.message)


def _quiet_faust() -> None:
    for name in ("faust", "mode", "aiokafka"):
        logging.getLogger(name).setLevel(logging.WARNING)
