"""Temporary folders that every user of the machine can enter, whatever the umask and wherever TMPDIR points."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.server_files import open_to_all

MEMORY = "/dev/shm"
ROOM = 4 * 2**30  # bytes: what the stacks of some test processes may come to


@contextmanager
def public_folder(prefix: str, *, in_memory: bool = False) -> Iterator[Path]:
    """A folder with mode 0755 below folders that are open to all, removed afterwards; TMPDIR's where that is open.

    With `in_memory` it is in the system's shared memory, where that has room: a container's often has not.
    """
    candidates: tuple[str, ...] = (tempfile.gettempdir(), "/var/tmp", "/tmp", MEMORY)
    if in_memory and os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > ROOM:
        candidates = (MEMORY, *candidates)
    open_ones = (place for place in candidates if os.access(place, os.W_OK) and open_to_all(Path(place, "any")))
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=next(open_ones, None)))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def made(folder: Path, mode: int) -> Path:
    """`folder`, new, with exactly this mode: what mkdir is given, the umask takes from."""
    folder.mkdir()
    folder.chmod(mode)
    return folder
