"""How much memory there is, and how much of it a database's cache may take."""

from __future__ import annotations

import os
from pathlib import Path

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # bytes, or "max"
LEAST_MB, MOST_MB, SHARE = 64, 4096, 8


def memory(limit: Path = CGROUP_LIMIT) -> int:
    """Bytes that we may use: the machine's, or the container's where it has fewer."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    said = limit.read_text().strip() if limit.exists() else ""
    return min(machine, int(said)) if said.isdecimal() else machine


def cache_mb(of: int) -> int:
    """An eighth of so many bytes: pages that do not fit are copied from the system's cache each time they are read."""
    return max(LEAST_MB, min(MOST_MB, of // SHARE // 2**20))
