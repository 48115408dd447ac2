"""A flame graph of the process that answers mails: `python -m tests.benchmarks.flame docs/pictures/flame.svg`.

py-spy (`pip install py-spy`) looks a hundred times a second who holds the interpreter's lock, while 100 mails that came at
once are answered and learned from; a model over HTTP answers in 0 ms. `MAILS` says otherwise.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

from tests.benchmarks.outside import deployed

RATE = "100"  # looks a second
TITLE = "Where the interpreter's time goes: one process of every processor, many mails at once"
LONGEST_S = "3600"


async def record(py_spy: str, picture: Path, mails: int) -> None:
    """Answer so many mails, watched; the picture is written at the end."""
    async with deployed() as seen:
        since = await seen.newest()
        await seen.answered(10)
        await seen.settled(since)
        [worker] = seen.workers.running.values()
        what = ["--gil", "-r", RATE, "-d", LONGEST_S, "-o", str(picture), "-p", str(worker.process.pid)]
        watching = await asyncio.create_subprocess_exec(py_spy, "record", *what, "--title", TITLE)
        since = await seen.newest()
        await seen.answered(mails)
        await seen.settled(since)
        watching.send_signal(signal.SIGINT)
        await watching.wait()


def main(arguments: list[str]) -> int:
    """Write the picture; 2 where it cannot be made."""
    py_spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if len(arguments) != 1 or py_spy is None:
        print("usage: python -m tests.benchmarks.flame FILE.svg" if py_spy else "py-spy is needed: pip install py-spy")
        return 2
    asyncio.run(record(py_spy, Path(arguments[0]), int(os.environ.get("MAILS", "100"))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
