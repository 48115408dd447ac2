"""Goes through a round of retention and kills itself at a step: `python -m ... SETTINGS(json) NOW(iso) STEP`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from psycopg import sql

from services.core.app import open_app
from services.core.sealed_blobs import SealedBlobs
from services.core.settings import Settings
from services.operations.retention import ask, files, journal
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import run
from tests.support.remembering import Quiet


def die(*_: Any, **__: Any) -> Any:
    """End as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


def after(call: Callable[..., Any]) -> Callable[..., Any]:
    """Do it, then die."""

    async def once(*arguments: Any) -> None:
        await call(*arguments)
        die()

    return once


def arm(step: str) -> None:
    """Have the process die where `step` says."""
    if step == "asked":  # stored, not published
        ask.publish = die  # type: ignore[attr-defined]
    elif step == "replaced":  # it counts, and the former one lies there
        files.remove_former = _unless_first()
    elif step == "blob removed":  # and not noted
        SealedBlobs.delete = after(SealedBlobs.delete)  # type: ignore[method-assign]
    elif step == "day locked":
        journal.sql = SimpleNamespace(SQL=_no_drop, Identifier=sql.Identifier)  # type: ignore[assignment, attr-defined]


def _no_drop(statement: Any) -> sql.SQL:
    """Dies where a table is dropped."""
    return die() if statement.startswith("DROP") else sql.SQL(statement)


def _unless_first() -> Any:
    calls: list[Clearing] = []

    async def remove_former(clearing: Clearing) -> None:
        calls.append(clearing)
        if len(calls) > 1:
            die()

    return remove_former


async def work(settings: Settings, now: datetime) -> None:
    """One round."""
    async with open_app(settings, now=lambda: now) as app:
        quiet = replace(app, publisher=Quiet(settings.kafka.brokers))
        async for _ in run(Clearing(quiet, today(now))):
            continue


if __name__ == "__main__":
    arm(sys.argv[3])
    asyncio.run(work(Settings(**json.loads(sys.argv[1])), datetime.fromisoformat(sys.argv[2])))
