"""What memory across time costs before a reply: two deployments side by side, one with all of it on, one as it ships.

On are incidents, told periods, outreach, earned approval, investigations and forgetting by use. Mails come in turn to one and to the
other, one at a time, so what else the machine does meets both alike. From outside, as in `latency`.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from typing import Any

from tests.benchmarks.latency import WARM_UP, one_at_a_time
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.outside import deployed
from tests.benchmarks.recall_support import Options, run

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
    lines = [at_most("wait for a reply, on / off", median["on_s"] / median["off_s"], "x", MOST, rounds, median)]
    for name in sides:
        syncs = after[name].since(before[name], rounds)["syncs"]
        lines.append(Measured(f"waits for the disk a mail, {name}", syncs, "", n=rounds))
    return lines


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(quick=options.quick))


if __name__ == "__main__":
    sys.exit(run("derived_memory", benchmark))
