"""Gives vectors as the deployment does and kills itself after some batches: `python -m ... SETTINGS(json) MODEL BATCHES`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace

from services.core.app import open_app
from services.core.settings import Settings
from services.operations.vectors import renewal
from services.operations.vectors.keep import look
from tests.support.remembering import Quiet
from tests.support.vectors import HashVectors


async def work(settings: Settings, model: str, batches: int) -> None:
    """Look once; die, as a crash would, when so many batches are done."""
    told: list[int] = []

    def die(done: int, _: int) -> None:
        told.append(done)
        if len(told) == batches:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_app(settings) as app:
        await look(replace(app, embedder=HashVectors(model), publisher=Quiet(settings.kafka.brokers)), die)


if __name__ == "__main__":
    renewal.BATCH = 2
    asyncio.run(work(Settings(**json.loads(sys.argv[1])), sys.argv[2], int(sys.argv[3])))
