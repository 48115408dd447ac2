"""The embedded stack as a whole: four parts started side by side, ready when each has answered a client.

One process owns a folder's stack at a time. Whatever ends that process, the parts end too; what still outlives it
(a system without parent-death signals) is recognised and ended by the next start.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from deploy.local.endpoints import Endpoints, forget_endpoints, write_endpoints
from deploy.local.errors import PartFailed
from deploy.local.ownership import Ownership
from deploy.local.part import Part
from deploy.local.plan import plan
from deploy.local.ports import HOST
from deploy.local.processes import Child, end_recorded

DEFAULT_HOME = Path("var")
READY_WITHIN = 120.0  # seconds; a recovery after a crash counts, on a busy machine too


class EmbeddedStack:
    """Kafka, Postgres, Valkey and an SMTP sink as child processes, with their data under `home`.

    `report` gets one line for each thing a person may want to know. `kafka` is `embedded`, `apache` (from its jars,
    see kafka.sh) or the `host:port` of a broker that runs already; `kafka_advertised` is where the broker sends its
    clients, for a proxy in between. A `throwaway` stack is for a test session: small, and a power cut may cost its
    database. Start, stop and restart are for one thread at a time.
    """

    def __init__(
        self,
        home: Path = DEFAULT_HOME,
        *,
        report: Callable[[str], None] = lambda _: None,
        kafka: str = "embedded",
        kafka_advertised: str | None = None,
        throwaway: bool = False,
    ) -> None:
        self.home = home.resolve()
        self._report = report
        self._kafka = kafka
        self._kafka_advertised = kafka_advertised
        self._throwaway = throwaway
        self._ownership = Ownership(self.home)
        self._given_up = threading.Event()
        self._children: dict[str, Child] = {}
        self._recording = threading.Lock()
        self._supervising_thread: ThreadPoolExecutor | None = None

    def start(self) -> Endpoints:
        """Start all parts and wait until each answers.

        Raises HomeInUse when another process runs the stack of this folder, PartFailed when a part does not come up;
        nothing is left running then.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        self._ownership.take()
        try:
            return self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all parts in their own clean way, side by side; without effect when nothing runs."""
        self._given_up.set()
        children = list(self._children.values())
        if children:
            with ThreadPoolExecutor(len(children)) as pool:
                list(pool.map(Child.stop, children))
        self._children.clear()
        if self._supervising_thread:
            self._supervising_thread.shutdown()
            self._supervising_thread = None
            self._processes_file.unlink(missing_ok=True)
        self._ownership.release()

    def restart(self, part: str) -> None:
        """Stop one part (`kafka`, `database`, `redis` or `smtp`), dead or alive, and start it on the same port."""
        child = self._children[part]
        child.stop()
        self._bring_up(child.part)

    def kill(self, part: str) -> None:
        """End one part as a crash would (SIGKILL); `restart` brings it back."""
        self._children[part].kill()

    def pids(self) -> dict[str, int]:
        """The process id of each part."""
        return {name: child.pid for name, child in self._children.items()}

    def __enter__(self) -> Endpoints:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _processes_file(self) -> Path:
        return self.home / "processes.json"

    def _start(self) -> Endpoints:
        self._given_up.clear()
        self._end_what_an_earlier_run_left()
        (self.home / "logs").mkdir(mode=0o700, exist_ok=True)
        endpoints, parts = plan(
            self.home, kafka=self._kafka, kafka_advertised=self._kafka_advertised, throwaway=self._throwaway
        )
        forget_endpoints(self.home)
        self._supervising_thread = ThreadPoolExecutor(1, thread_name_prefix="supervisor")
        with ThreadPoolExecutor(len(parts)) as pool:
            try:
                list(pool.map(self._bring_up, parts))
            except BaseException:
                self._given_up.set()
                raise
        write_endpoints(self.home, endpoints)
        return endpoints

    def _bring_up(self, part: Part) -> None:
        """Prepare the part, spawn it from the supervising thread, note what it became, wait until it answers."""
        part.prepare()
        if self._given_up.is_set() or self._supervising_thread is None:
            return
        began = time.monotonic()
        log = self.home / "logs" / f"{part.name}.log"
        child = self._supervising_thread.submit(Child, part, log).result()
        self._children[part.name] = child
        self._record_processes()
        self._wait_until_ready(child, began + READY_WITHIN)
        self._record_processes()
        self._report(f"{part.name}: ready on {HOST}:{part.port} in {time.monotonic() - began:.2f} s")

    def _wait_until_ready(self, child: Child, deadline: float) -> None:
        while not child.part.answers():
            if not child.is_alive():
                raise PartFailed(f"{child.part.name} ended while starting. Its log:\n{child.log_tail()}")
            if time.monotonic() > deadline:
                raise PartFailed(
                    f"{child.part.name} did not answer in {READY_WITHIN:.0f} s. Its log:\n{child.log_tail()}"
                )
            if self._given_up.wait(0.02):
                return

    def _record_processes(self) -> None:
        with self._recording:
            commands = {child.pid: child.command_line() for child in list(self._children.values())}
            self._processes_file.write_text(json.dumps(commands))

    def _end_what_an_earlier_run_left(self) -> None:
        try:
            commands = {int(pid): argv for pid, argv in json.loads(self._processes_file.read_text()).items()}
        except (OSError, ValueError):
            commands = {}
        ended = end_recorded(commands)
        if ended:
            self._report(f"ended {len(ended)} processes that an earlier run left behind")
