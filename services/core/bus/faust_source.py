"""One consumer group's stream of raw records, from Faust into the lanes. Faust only consumes.

Invariants
- Topics are raw bytes: nothing is decoded, reordered or acknowledged here.
- A crash of Faust (a broker that went away, a commit that failed) restarts the app with back-off; the lanes drop what
  had not started, and the group resumes from its committed offsets.
- Several sources run in one process and loop.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import faust

from services.core.bus.attempt import attempt
from services.core.bus.bell import Bell, Listen
from services.core.bus.broker_client import Brokers, faust_arguments
from services.core.bus.continuity import Gap, RecordsLeftOut
from services.core.bus.faust_consumer import LaneConsumer
from services.core.bus.fetch_pace import FetchPace
from services.core.bus.lanes import Lanes
from services.core.clock import monotonic

log = logging.getLogger(__name__)

STOP_S = 15.0  # how long a Faust app may take to stop before its thread is ended
STEP_S = 0.5  # and each further step of one that is left behind
MOST_HANGING_STEPS = 20
HEARTBEAT_S = 1.5  # at least; a member hears of a rebalance by it
STEADY_S = 60.0  # an app that ran so long starts again without the pauses of earlier failures
RESTART_PAUSES_S = (0.5, 1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What a group consumes, from where, and its patience in seconds.

    On Tansu `session_timeout_s` is 6, and a fetch's wait short; see `fetching`.
    """

    brokers: Brokers
    group: str
    topics: tuple[str, ...]
    client_id: str = "correspondent"
    session_timeout_s: float = 30
    rebalance_timeout_s: float = 90
    commit_interval_s: float = 1
    pace: FetchPace = field(default_factory=FetchPace)

    def faust_options(self) -> dict[str, Any]:
        """The options of the Faust app, each with what was found by running Faust 0.15.3."""
        return {
            **faust_arguments(self.brokers),
            "broker_client_id": self.client_id,
            # With Faust's own limit a consumer that is slow, or has nothing to read, stops for good.
            "broker_max_poll_interval": 1e8,
            # At most a fifth of the buffer.
            "broker_max_poll_records": 100,
            "stream_buffer_maxsize": 500,
            "broker_session_timeout": self.session_timeout_s,
            "broker_heartbeat_interval": max(HEARTBEAT_S, self.session_timeout_s / 10),
            "broker_rebalance_timeout": self.rebalance_timeout_s,
            "broker_request_timeout": self.rebalance_timeout_s + 5,
            "broker_commit_interval": self.commit_interval_s,
            # A rebalance waits for what is under way; the lanes cut it down to that (`LaneConsumer`), or it never ends.
            "stream_wait_empty": True,
            "table_standby_replicas": 0,
            # Topics are made by `ensure_topics` alone, with the partitions and the retention of topics.yaml.
            "topic_disable_leader": True,
            "topic_allow_declare": False,
            "web_enabled": False,
            "producer_acks": -1,
            # A group without a commit reads all there is: the journal knows what was done, and no mail leaves twice.
            "consumer_auto_offset_reset": "earliest",
            "consumer_metadata_max_age_ms": round(self.pace.metadata_s * 1000),
            "autodiscover": False,
            "worker_redirect_stdouts": False,
        }


class LogLost(Exception):
    """Topics lost records: they are read again from where this generation of them begins."""


class _App(faust.App):
    def _create_directories(self) -> None:
        """Tables would be kept there; we have none."""


class FaustSource:
    """Consumes `settings.topics` as `settings.group` and submits every record to `lanes`."""

    def __init__(
        self,
        settings: SourceSettings,
        lanes: Lanes,
        listen: Listen | None = None,
        generations: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        if lanes.limits.longest_attempt_s >= settings.rebalance_timeout_s:
            raise ValueError("a handler's timeout must end before the rebalance's, else its partitions are lost")
        self._settings, self._lanes, self._generations = settings, lanes, generations
        self._listen = listen or Bell().listen
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._known_gaps: set[Gap] = set()
        self._app: _App | None = None
        self._consumer: LaneConsumer | None = None  # once partitions were assigned to it
        self._keeper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> Awaitable[None]:
        """Done once the group's partitions were assigned for the first time, be it none."""
        return asyncio.shield(self._ready)

    @property
    def assigned(self) -> bool:
        """Whether the group's partitions are assigned now, be it none of them to us."""
        return self._consumer is not None

    @property
    def partitions(self) -> int:
        """How many partitions are ours."""
        return self._lanes.partitions

    @property
    def unfinished(self) -> int:
        """How many records are taken on and not yet done."""
        return self._lanes.unfinished

    def lag(self) -> int:
        """How many records of our partitions are not done, as the broker said last."""
        return self._consumer.lag() if self._consumer else 0

    def oldest_s(self, now: float) -> float:
        """The age of the oldest record taken on and not done, at the Unix time `now`; 0 where there is none."""
        oldest_ms = self._lanes.oldest_ms()
        return max(0.0, now - oldest_ms / 1000) if oldest_ms else 0.0

    async def trouble(self, within_s: float) -> str:
        """Why this consumer works no more and never will, "" where it does, or starts again by itself."""
        if self._keeper is not None and self._keeper.done():
            return "it has ended"
        return await self._consumer.trouble(within_s) if self._consumer else ""

    async def start(self) -> None:
        """Start consuming; a broker that does not answer yet is tried until `stop`."""
        _quiet_faust()
        self._keeper = asyncio.create_task(self._keep_running(), name=f"source {self._settings.group}")

    def read_again(self, lost: Collection[str]) -> None:
        """Start again, with the generations of now, where a topic of ours is among those that were lost."""
        mine = sorted(set(self._settings.topics) & set(lost))
        if mine and self._app is not None:
            self._app._crash(LogLost(", ".join(mine)))

    async def stop(self, timeout_s: float = 60) -> None:
        """Admit nothing more, let what runs end within `timeout_s`, commit, leave the group."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        app, self._app = self._app, None
        self._consumer = None
        if app is not None:
            app.flow_control.suspend()
            app.flow_control.clear()
            app.consumer.stop_flow()
        await self._lanes.drain(timeout_s)
        if app is not None:
            await _stop(app)

    async def _keep_running(self) -> None:
        failures = 0
        while True:
            self._app = self._make_app()
            began = monotonic()
            # A client's thread that ends cancels whoever waits for it: an attempt of its own, so that this goes on.
            reason = await attempt(_until_stopped, (self._app,), None) or self._app.crash_reason
            if isinstance(reason, RecordsLeftOut) or monotonic() - began >= STEADY_S:
                failures = 0
            pause = RESTART_PAUSES_S[min(failures, len(RESTART_PAUSES_S) - 1)]
            failures += 1
            log.warning("consumer %s stopped (%r), starts again in %.1f s", self._settings.group, reason, pause)
            self._consumer = None
            self._lanes.revoked()
            await _stop(self._app)
            await asyncio.sleep(pause)

    def _make_app(self) -> _App:
        app = _App(self._settings.group, **self._settings.faust_options())
        app.finalize()
        app.in_worker = True
        make = functools.partial(
            LaneConsumer,
            lanes=self._lanes,
            on_assigned=self._assigned,
            pace=self._settings.pace,
            listen=self._listen,
            topics=self._settings.topics,
            known_gaps=self._known_gaps,
            generations=self._generations,
        )
        vars(app.transport)["Consumer"] = make
        # Raw bytes: a typed topic acknowledges a payload that it cannot read, and ends the agent.
        topic = app.topic(
            *self._settings.topics, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw"
        )
        # Faust subscribes to the topics of its agents; `LaneConsumer.getmany` takes the records before they come here.
        app.agent(topic, concurrency=1, name=f"{self._settings.group}.lanes")(_nothing)
        return app

    def _assigned(self, consumer: LaneConsumer) -> None:
        self._consumer = consumer
        if not self._ready.done():
            self._ready.set_result(None)


async def _until_stopped(app: _App) -> None:
    await app.start()
    await app.wait_until_stopped()


async def _stop(app: _App) -> None:
    """Stop `app`. Where that hangs or fails its thread is ended: a member that stays keeps partitions unread.

    Mode goes on with its next step when it is cancelled: so it is cancelled for each step that hangs.
    """
    stopping = asyncio.create_task(app.stop(), name=f"stop {app.conf.id}")
    await asyncio.wait({stopping}, timeout=STOP_S)
    if stopping.done() and not stopping.cancelled() and not stopping.exception():
        return
    log.warning("consumer %s did not stop cleanly, its thread is ended: %r", app.conf.id, stopping)
    for _ in range(MOST_HANGING_STEPS):
        cast(LaneConsumer, app.consumer).abandon()
        if (await asyncio.wait({stopping}, timeout=STEP_S))[0]:
            return
        stopping.cancel()


async def _nothing(stream: Any) -> None:
    async for _ in stream:
        pass


def _quiet_faust() -> None:
    for name in ("faust", "mode", "aiokafka"):
        logging.getLogger(name).setLevel(logging.WARNING)
