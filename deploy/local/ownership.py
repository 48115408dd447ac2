"""Who runs the stack of a folder: one process at a time, known by a lock that the kernel frees when it dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from deploy.local.errors import HomeInUse

FILE = "owner.lock"


class Ownership:
    """The right to run the stack of one folder, held from `take` to `release` or to the death of this process."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._descriptor: int | None = None

    def take(self) -> None:
        """Become the owner. Raises HomeInUse, naming the process that is."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(descriptor, fcntl.LOCK_EX, attempts=5):
            owner = os.read(descriptor, 20).decode() or "unknown"
            os.close(descriptor)
            raise HomeInUse(
                f"The embedded stack in {self._path.parent} is already run by process {owner}. Use that one, "
                f"stop it (Ctrl-C there, or `kill {owner}`), or choose another folder."
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the next one in; without effect when not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_owned(home: Path) -> bool:
    """Whether a live process holds the stack of `home`."""
    try:
        descriptor = os.open(home / FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_SH, attempts=1)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, kind: int, *, attempts: int) -> bool:
    """Try for the lock; more than one attempt outlasts the instant for which `is_owned` holds it."""
    for attempt in range(attempts):
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02 * (attempt + 1 < attempts))
        else:
            return True
    return False
