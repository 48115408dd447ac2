"""What memory across time costs before a reply: two deployments side by side, one with all of it on, one as it ships.

On are incidents, told periods, outreach, earned approval, investigations and forgetting by use. Mails come in turn to one and to the
other, one at a time, so what else the machine does meets both alike. From outside, as in `latency`. That wait has no target: of 20
mails its ratio is moved by what else runs. What has one is counted within one process, one deployment after the other, up to
the moment in which the mail server has the reply: statements, CPU, and what the processors of this memory begin to handle.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from services.core.bus.runner import Runner
from services.core.bus.work import Work
from services.operations.idle import newest, until_idle
from tests.benchmarks.cost import counted_statements
from tests.benchmarks.latency import WARM_UP, one_at_a_time
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.outside import NONE, PATIENCE_S, Clock, deployed, post
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app
from tests.support.smtp_server import SmtpServer

MOST = 1.1  # of the time without
RULE = {"name": "renewal", "text": "Hi {name}, it is {date} soon.", "fact": "renewal date", "within_days": 14}
ON: dict[str, Any] = {
    "incidents": {"customers": 3},
    "condense": {"enabled": True, "rows_from": 2},
    "reach_out": {"rules": [RULE]},
    "recall": {"unused_days": 100},
    "approval": {"earn": True},
    "investigate": {"enabled": True},
}
DERIVING = frozenset({"condense_memory", "earn_approval", "investigate", "reach_out", "watch_incidents"})


@dataclass(frozen=True, slots=True)
class Handled:
    """A processor began to handle an event of a type, by the monotonic clock."""

    at: float
    processor: str
    type: str


@contextmanager
def handled_by_any() -> Iterator[list[Handled]]:
    """What the processors of this process begin to handle in the block, in order."""
    seen: list[Handled] = []
    do = Runner._do

    async def noting(self: Runner, work: Work[Any]) -> None:
        seen.append(Handled(time.monotonic(), work.consumer, work.envelope.type))
        await do(self, work)

    setattr(Runner, "_do", noting)  # noqa: B010  (what is measured is left as it is)
    try:
        yield seen
    finally:
        setattr(Runner, "_do", do)  # noqa: B010


async def measure(*, quick: bool) -> list[Measured]:
    """The median wait for a reply with it over that without, and what a mail cost in all on both sides."""
    rounds = 20 if quick else 200
    async with deployed(changes=ON) as on, deployed() as off:
        sides = {"on": on, "off": off}
        for seen in sides.values():
            await one_at_a_time(seen, WARM_UP)
        before = {name: await seen.spent() for name, seen in sides.items()}
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, seen in sides.items():
                times[name] += await one_at_a_time(seen, 1)
        after = {name: await seen.spent() for name, seen in sides.items()}
    median = {f"{name}_s": statistics.median(found) for name, found in times.items()}
    lines = [Measured("wait for a reply, on / off", median["on_s"] / median["off_s"], "x", n=rounds, sides=median)]
    for name in sides:
        syncs = after[name].since(before[name], rounds)["syncs"]
        lines.append(Measured(f"waits for the disk a mail, {name}", syncs, "", n=rounds))
    return lines + await up_to_the_reply(rounds)


async def up_to_the_reply(rounds: int) -> list[Measured]:
    """What is done before a reply has left: statements, CPU of the process that does all of it, and what is handled."""
    sides = {"on": await before_a_reply(ON, rounds), "off": await before_a_reply(NONE, rounds)}
    lines = []
    for place, (name, unit) in enumerate((("statements", ""), ("CPU", "_ms"))):
        found = {f"{side}{unit}": both[place] for side, both in sides.items()}
        lines.append(at_most(f"{name} up to the reply, on / off", found[f"on{unit}"] / found[f"off{unit}"], "x", MOST, rounds, found))  # fmt: skip
    theirs, others = (sides["on"][place] for place in (2, 3))
    told = {"theirs": theirs, "others": others}
    return [*lines, at_most("events that these processors begin with before the reply", theirs, "", 0, rounds, told)]


async def before_a_reply(changes: Mapping[str, Any], rounds: int) -> tuple[float, float, int, int]:
    """The medians of a mail's statements and milliseconds of CPU, from its coming in to its reply's being accepted.

    And how many events the processors that derive memory, and how many all others, began to handle in these times.
    """
    clock = Clock()
    statements, cpu_ms = [], []
    theirs = others = 0
    async with SmtpServer(script=clock.note) as server:
        here = {"smtp": {"host": "127.0.0.1", "port": server.port}}
        async with bench_app(changes={**changes, **here}) as app:
            for number in range(WARM_UP + rounds):
                since = await newest(app)
                with counted_statements() as seen, handled_by_any() as handled:
                    began = time.process_time()
                    await clock.until(await post(app, range(number, number + 1)))
                    spent, sent = time.process_time() - began, sum(seen.values())
                if number >= WARM_UP:
                    statements.append(sent)
                    cpu_ms.append(1000 * spent)
                    before = [one for one in handled if one.at <= max(clock.accepted.values())]
                    theirs += sum(one.processor in DERIVING for one in before)
                    others += sum(one.processor not in DERIVING for one in before)
                await until_idle(app, since=since, timeout_s=PATIENCE_S)
    return statistics.median(statements), statistics.median(cpu_ms), theirs, others


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("derived_memory", benchmark))
