"""How much memory a process took at its most."""

from __future__ import annotations

from pathlib import Path


def largest_mb(pid: int | str = "self") -> float:
    """The largest resident set of a process's own program so far, in MB.

    Not `getrusage`: its `ru_maxrss` outlives `exec`, so that a small program reports the size of who started it.
    """
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (kilobytes,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(kilobytes) / 1024
