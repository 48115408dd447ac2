"""What a run consists of: a stack behind proxies, an SMTP server, a model's server, and the deployment's processes.

The processes reach everything through the proxies, so that any connection can be cut. A process that ends by itself
(its database was away when it started, say) is started again, as a supervisor does.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

from deploy.local import EmbeddedStack, Endpoints
from deploy.local.ports import HOST, free_port
from services.core.app import App, open_app
from services.core.bus.delivery import Record
from services.core.settings import Settings
from services.operations.erase.survey import Survey
from services.operations.preparation import prepare
from tests.chaos.levers import Levers
from tests.chaos.nursery import Nursery
from tests.chaos.schedule import DOUBLED, PROCESSES
from tests.chaos.scripts import REVIEWED
from tests.chaos.traffic import Mail
from tests.chaos.worker import use_levers
from tests.flow.scenario import WEBHOOK_KEY
from tests.oracle.evidence import Earning, Newer
from tests.support.app import INBOX, settings_for
from tests.support.proxy import FaultProxy
from tests.support.scripted_model import ScriptedModel
from tests.support.smtp_server import SmtpServer
from tests.support.stack import create_database
from tests.support.workers import Spawn, Workers

DATABASE = "chaos"
PREFIX = "chaos."
SESSION_S = 10
LOOK_EVERY_S = 0.5
START_S = 300
EARNING = Earning(bound=0.3, over=10, senders=2)  # two approvals unchanged in a row reach it
SILENT_DAYS = 10 / 86_400
PATIENCE_S = 300  # retries of a handler: chaos on a busy machine is to end in answers, not in dead letters


@dataclass(slots=True)
class World:
    """One run's world, for faults to be done to. `felt` counts the faults that were done, those of SMTP as they met mail."""

    stack: EmbeddedStack
    endpoints: Endpoints
    proxies: Mapping[str, FaultProxy]
    server: SmtpServer
    model: ScriptedModel
    levers: Levers
    app: App
    workers: Workers
    felt: Counter[str] = field(default_factory=Counter)
    poison: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    foreign: list[Record] = field(default_factory=list)  # put on the log by nobody of the run
    newer: list[Newer] = field(default_factory=list)
    released: list[UUID] = field(default_factory=list)  # ids of held records that a person has decided to release
    mails: list[Mail] = field(default_factory=list)  # all that is offered, sooner or later
    erased: dict[str, Survey] = field(default_factory=dict)  # by address: what was known of them
    refused: set[str] = field(default_factory=set)  # topics that the broker took nothing for, for a while
    restarts: int = 0
    _held: Counter[str] = field(default_factory=Counter)
    _locks: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    def busy(self, what: str) -> asyncio.Lock:
        """Held while something is done to this part or processor, so that no two faults do it at once."""
        return self._locks[what]

    @contextmanager
    def held(self, *labels: str) -> Iterator[None]:
        """Nobody starts these processes again meanwhile."""
        self._held.update(labels)
        try:
            yield
        finally:
            self._held.subtract(labels)

    async def supervise(self) -> None:
        """Start again what has ended, until cancelled."""
        while True:
            for label, worker in list(self.workers.running.items()):
                if worker.process.poll() is not None and not self._held[label]:
                    self.restarts += 1
                    self.workers.restart(label)
            await asyncio.sleep(LOOK_EVERY_S)

    async def all_at_work(self) -> None:
        """Return when every process is at work, started again if it has to be."""
        async with asyncio.timeout(START_S):
            while not all(worker.is_at_work() for worker in list(self.workers.running.values())):
                await asyncio.sleep(0.2)


@asynccontextmanager
async def world(home: Path, folder: Path, kafka: str) -> AsyncIterator[World]:
    """A world with every process at work. `home` is the stack's, `folder` keeps what the processes write."""
    began = time.monotonic()
    levers = Levers(folder / "levers")
    levers.folder.mkdir(parents=True)
    port = free_port()
    stack = EmbeddedStack(home, kafka=kafka, kafka_advertised=f"{HOST}:{port}")
    endpoints = await asyncio.to_thread(stack.start)
    print(f"{time.monotonic() - began:6.1f} s  the stack answers", flush=True)
    async with AsyncExitStack() as exits:
        exits.push_async_callback(asyncio.to_thread, stack.stop)
        server, model = await exits.enter_async_context(SmtpServer()), await exits.enter_async_context(ScriptedModel())
        targets = endpoints.ports() | {"smtp": (HOST, server.port), "model": (HOST, int(model.base_url.split(":")[-1]))}
        proxies = {
            name: await exits.enter_async_context(FaultProxy(*target, listen=port if name == "kafka" else 0))
            for name, target in targets.items()
        }
        create_database(endpoints.database, DATABASE)
        near = _settings(endpoints, home, kafka, endpoints.kafka, server.port, model.base_url)
        await prepare(near)
        app = await exits.enter_async_context(open_app(near, now=levers.now))
        use_levers(app, levers)
        nursery = exits.enter_context(Nursery("tests.chaos.worker"))
        workers = exits.enter_context(Workers(_through(near, proxies), folder / "logs", _spawning(nursery, levers)))
        made = World(stack, endpoints, proxies, server, model, levers, app, workers)
        for label in PROCESSES:
            workers.start(label.partition("#")[0], label=label)
        print(f"{time.monotonic() - began:6.1f} s  every process is started", flush=True)
        supervisor = asyncio.create_task(made.supervise(), name="supervisor")
        exits.callback(supervisor.cancel)
        await made.all_at_work()
        yield made


def _spawning(nursery: Nursery, levers: Levers) -> Spawn:
    return lambda names, environment, log: nursery.spawn([str(levers.folder), *names], environment, log)


def labels_of(processor: str) -> tuple[str, ...]:
    """The processes of a processor."""
    return tuple(f"{processor}#{number}" for number in (1, 2)) if processor in DOUBLED else (processor,)


def _settings(stack: Endpoints, home: Path, kafka: str, brokers: str, smtp_port: int, model_url: str) -> Settings:
    database = urlsplit(stack.database)._replace(path=f"/{DATABASE}").geturl()
    embedded = kafka == "embedded"
    return settings_for(
        stack, database, PREFIX, home,
        kafka={"brokers": brokers, "embedded": embedded, "session_timeout_s": SESSION_S},
        smtp={"host": HOST, "port": smtp_port, "timeout_s": 3},
        model={"provider": "anthropic", "base_url": model_url, "api_key": "k",
               "timeout_s": 3, "budget_s": 8, "max_retries": 2},
        threads={"quiet_s": 0.5},
        inboxes=[{**INBOX, "vouched_by": "the test", "replies_per_hour": 0}],
        lanes={"retry_s": PATIENCE_S},
        pool_size=4,
        incidents={"customers": 3},
        investigate={"enabled": True, "rounds": 4},
        condense={"enabled": True, "rows_from": 2},
        approval={"earn": True, "bound": EARNING.bound, "over": EARNING.over, "senders": EARNING.senders, "score": 0,
                  "intents": [{"intent": REVIEWED, "level": "review"}]},
        reach_out={"rules": [{"name": "silence", "silent_days": SILENT_DAYS, "text": "Hi {name}, how is it going?"}],
                   "person_days": 3650, "per_day": 40},
        web={"port": free_port(), "webhook_secret": f"whsec_{WEBHOOK_KEY}"},
    )  # fmt: skip


def _through(near: Settings, proxies: Mapping[str, FaultProxy]) -> Settings:
    """The same settings with every address that of a proxy."""

    def moved(url: str, name: str) -> str:
        parts = urlsplit(url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[0] + "@" + proxies[name].address).geturl()

    return near.model_copy(
        update={
            "database_url": moved(near.database_url, "database"),
            "redis_url": moved(near.redis_url, "redis"),
            "kafka": near.kafka.model_copy(update={"brokers": proxies["kafka"].address}),
            "smtp": near.smtp.model_copy(update={"port": proxies["smtp"].port}),
            "model": near.model.model_copy(update={"base_url": f"http://{proxies['model'].address}"}),
        }
    )
