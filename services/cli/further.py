"""The further processes of `correspondent up`: each runs every processor, and they share the topics' partitions.

Edges (fetching mail, keeping time, the web) stay in the first process. Where a further one ends another takes its
place; they end with the first, however it ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from deploy.local.processes import supervised
from services.core.clock import pause
from services.core.settings import Settings
from services.operations.preparation import EMBEDDED_PARTITIONS
from services.pipeline import PROCESSORS

log = structlog.get_logger(__name__)

MOST = EMBEDDED_PARTITIONS  # that are started unless a number is given: a partition of each topic for each
AGAIN_S = 5.0
STOP_S = 90.0
MAIN = "from services.cli.main import main; main()"
PROBES = "CORRESPONDENT_MONITORING__PORT"


def usual_number() -> int:
    """Half of the machine's cores, since the servers of the stack need the others, and at most `MOST`."""
    return max(1, min(MOST, (os.cpu_count() or 1) // 2))


@asynccontextmanager
async def further(settings: Settings, processes: int) -> AsyncIterator[None]:
    """All but the first of so many processes run for the block; they have ended after it."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(1, processes):
            group.create_task(_keep(settings, number, stop), name=f"process {number + 1}")
        try:
            yield
        finally:
            stop.set()


async def _keep(settings: Settings, number: int, stop: asyncio.Event) -> None:
    while not stop.is_set():
        process = await _start(settings, number)
        told, ended = asyncio.create_task(stop.wait()), asyncio.create_task(process.wait())
        try:
            await asyncio.wait({told, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            await _end(process)
        if not stop.is_set():
            log.error("a further process ended, another one takes its place", pid=process.pid, code=process.returncode)
            await pause(stop, AGAIN_S)


async def _start(settings: Settings, number: int) -> asyncio.subprocess.Process:
    """One that finds the stack by its folder; its probes take a free port, or so many after the one that is set."""
    command = [sys.executable, "-c", MAIN, "--home", str(settings.home), "run", *(one.name for one in PROCESSORS)]
    probes = settings.monitoring
    ports = {PROBES: str(probes.port + number)} if "port" in probes.model_fields_set else {}
    return await asyncio.create_subprocess_exec(
        *supervised(command, None, signal.SIGKILL),
        env={**os.environ, **ports},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # its log goes to the terminal with ours
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let it stop cleanly, within `STOP_S`; Ctrl-C in a terminal has told it already."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
