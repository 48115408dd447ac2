"""One process of `generate_reply`, a model that takes 5 s, 2,094 threads, 256 questions in flight: against the ideal.

Ideal is in-flight / 5 s, and is compared with how fast questions are asked once 256 are in flight: the first 256 only fill
the process, which a short run would count and a long one not. The questions are a whole number of times 256: a last wave
that is not full takes its 5 s too, so that of 564 questions the best process would reach 0.73 of the ideal. The run with
its beginning and end is a line of its own. Every tenth thread has a second turn's context on the log, which may not
overtake the first.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence

from tests.benchmarks.measured import Measured, at_least, at_most
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.reply_load import out_of_order, reply_load
from tests.support.memory import largest_mb

MODEL_S = 5.0
IN_FLIGHT = 256
THREADS, QUICK_THREADS = 2094, 698  # with their second turns 9 and 3 times what is in flight
TARGET = 0.95
MOST_MB = 400.0


async def measure(*, quick: bool) -> Sequence[Measured]:
    """The shares of the ideal rate, the process's largest memory, and threads out of order."""
    threads = QUICK_THREADS if quick else THREADS
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
            whole_s = time.monotonic() - load.asked[0]
            memory = largest_mb(worker.process.pid)
    count, per_question_s = len(events), MODEL_S / IN_FLIGHT
    full_s, full_ideal_s = load.asked[-1] - load.asked[IN_FLIGHT - 1], (count - IN_FLIGHT) * per_question_s
    whole_ideal_s = count * per_question_s
    full = {"seconds": full_s, "ideal_s": full_ideal_s}
    whole = {"seconds": whole_s, "ideal_s": whole_ideal_s}
    disordered = out_of_order(events, drafts)
    return [
        at_least("rate / ideal, once 256 are in flight", full_ideal_s / full_s, "x", TARGET, count - IN_FLIGHT, full),
        Measured("rate / ideal, with beginning and end", whole_ideal_s / whole_s, "x", n=count, sides=whole),
        at_most("largest memory of the process", memory, "MB", MOST_MB, count),
        Measured("threads out of order", disordered, "", 0, disordered == 0, threads),
    ]


def benchmark(options: Options) -> Sequence[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("concurrency", benchmark))
