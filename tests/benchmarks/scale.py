"""1, 2 and 4 processes of `generate_reply` with a model that takes 200 ms, against linear; and one that joins.

Each process may ask twice at once, so that the processor's cores are not what is measured while they last.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.reply_load import Load, out_of_order, reply_load

MODEL_S = 0.2
LANES = {"running": 2, "admitted": 8}
TARGET = 0.9
PROCESSES = (1, 2, 4)


async def rate(load: Load, processes: int, each: int) -> float:
    """Replies a second of so many processes at once, between the tenth and the last tenth of them."""
    with ExitStack() as stack:
        workers = [stack.enter_context(load.worker()) for _ in range(processes)]
        await asyncio.gather(*(worker.ready() for worker in workers))
        warm = await load.turns(24 * processes)
        await load.publish(warm)
        await load.all_drafts(warm)
        events = await load.turns(each * processes)
        await load.publish(events)
        times = sorted(row["at"] for row in await load.all_drafts(events))
    tenth = len(times) // 10
    return (len(times) - 2 * tenth) / (times[-tenth] - times[tenth])


async def joining(load: Load, count: int) -> tuple[int, int, int]:
    """A second process joins at a third of the work: events lost, questions asked twice, threads out of order."""
    with load.worker() as one:
        await one.ready()
        asked, events = len(load.asked), await load.turns(count, second_of=4)
        await load.publish(events)
        await load.all_drafts(events, 1 / 3)
        with load.worker() as other:
            await other.ready()
            drafts = await load.all_drafts(events)
    return len(events) - len(drafts), len(load.asked) - asked - len(events), out_of_order(events, drafts)


async def measure(*, quick: bool) -> Sequence[Measured]:
    """The rates as shares of linear, and what joining cost."""
    each = 100 if quick else 600
    async with reply_load(delay_s=MODEL_S, lanes=LANES) as load:
        rates = {processes: await rate(load, processes, each) for processes in PROCESSES}
        lost, repeated, disordered = await joining(load, 2 * each)
    found = [Measured("1 process", rates[1], "replies/s", n=each)]
    for processes in PROCESSES[1:]:
        linear = processes * rates[1]
        share, sides = rates[processes] / linear, {"replies_s": rates[processes], "linear_s": linear}
        name = f"{processes} processes / linear"
        found.append(Measured(name, share, "x", TARGET, share >= TARGET, each * processes, sides))
    for name, value in (("lost", lost), ("repeated", repeated), ("threads out of order", disordered)):
        found.append(Measured(f"one joins: {name}", value, "", 0, value == 0, 2 * each))
    return found


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("scale", benchmark))
