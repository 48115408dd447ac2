"""One process of `generate_reply`, a model that takes 5 s, 2,000 threads, 256 questions in flight: against the ideal.

Ideal is in-flight / 5 s. Every tenth thread has a second turn's context on the log, which may not overtake the first.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence

from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.reply_load import out_of_order, reply_load
from tests.support.memory import largest_mb

MODEL_S = 5.0
IN_FLIGHT = 256
TARGET = 0.95
MOST_MB = 400.0


async def measure(*, quick: bool) -> Sequence[Measured]:
    """The share of the ideal rate, the process's largest memory, and threads out of order."""
    threads = 2 * IN_FLIGHT if quick else 2000
    async with reply_load(delay_s=MODEL_S, lanes={"running": IN_FLIGHT, "admitted": 2 * IN_FLIGHT}) as load:
        with load.worker() as worker:
            await worker.ready()
            warm = await load.turns(12)
            await load.publish(warm)
            await load.all_drafts(warm)
            load.asked.clear()
            events = await load.turns(threads, second_of=10)
            await load.publish(events)
            drafts = await load.all_drafts(events)
            seconds = time.monotonic() - load.asked[0]
            memory = largest_mb(worker.process.pid)
    ideal = len(events) / IN_FLIGHT * MODEL_S
    sides = {"seconds": seconds, "ideal_s": ideal}
    disordered = out_of_order(events, drafts)
    return [
        Measured("rate / ideal", ideal / seconds, "x", TARGET, ideal / seconds >= TARGET, len(events), sides),
        at_most("largest memory of the process", memory, "MB", MOST_MB, len(events)),
        Measured("threads out of order", disordered, "", 0, disordered == 0, threads),
    ]


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("concurrency", benchmark))
