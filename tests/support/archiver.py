"""Moves old events as `correspondent archive` does, and kills itself at a step: `python -m ... URL FOLDER STEP`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from services.core.archive.archive import Archive
from services.core.archive.places import Folder
from services.operations import archive
from services.operations.rebuild.shadow_schema import connected

STEPS = ("written", "kept", "verified", "committed")
FOREVER = datetime(2100, 1, 1, tzinfo=UTC)


def die(*_: Any) -> None:
    """End as a crash would."""
    os.kill(os.getpid(), signal.SIGKILL)


async def work(url: str, folder: Path, step: str) -> None:
    """Move; the process dies at the step, of the first file."""
    if step == "written":
        Folder.keep = die  # type: ignore[assignment, method-assign]
    elif step == "kept":
        archive.verify = die  # type: ignore[assignment, attr-defined]
    elif step == "verified":
        archive.asdict = die  # type: ignore[assignment, attr-defined]
    async with connected(url) as conn:
        async for _ in archive.move(conn, Archive(str(folder)), FOREVER):
            die()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
