"""What a run can do to its processes while they work: move their clock, let time pass, and fill their blob store.

The levers are small files that every process of the run looks at; each setting holds until the next.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from services.core.blobs import Blobs
from services.core.clock import monotonic, utc_now


@dataclass(frozen=True, slots=True)
class Levers:
    """The levers of one run, in a folder of their own."""

    folder: Path

    def now(self) -> datetime:
        """The time by the clock of this run."""
        return utc_now() + self.offset

    @property
    def offset(self) -> timedelta:
        """How far the run's clock is ahead."""
        return timedelta(seconds=float(self._read("clock") or 0))

    def set_clock(self, offset: timedelta) -> None:
        """Have the run's clock jump to this offset."""
        self._write("clock", str(offset.total_seconds()))

    def monotonic(self) -> float:
        """Seconds on the clock that the model's circuit goes by; it never goes back."""
        return monotonic() + float(self._read("passed") or 0)

    def let_pass(self, time: timedelta) -> None:
        """So much time passes at once, by both clocks of the run."""
        self.end_pauses(time)
        self.set_clock(self.offset + time)

    def end_pauses(self, longest: timedelta) -> None:
        """Every circuit may ask the model once more at once; `longest` is the longest pause between two probes."""
        self._write("passed", str(float(self._read("passed") or 0) + longest.total_seconds()))

    def fill_store(self, full: bool) -> None:
        """Use up the quota of the blob store, or give room again."""
        self._write("full", "full" if full else "")

    @property
    def store_is_full(self) -> bool:
        """Whether the quota is used up."""
        return bool(self._read("full"))

    def note_refusal(self) -> None:
        """Remember that a write met the quota."""
        with (self.folder / "refused").open("a") as notes:
            notes.write(".")

    @property
    def refusals(self) -> int:
        """How many writes have met the quota."""
        return len(self._read("refused"))

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return ""

    def _write(self, name: str, text: str) -> None:
        aside = self.folder / f"{name}.{os.getpid()}"
        aside.write_text(text)
        aside.rename(self.folder / name)


class QuotaBlobs(Blobs):
    """A blob store on a file system with a quota: no further file once that is used up."""

    def __init__(self, folder: Path, levers: Levers) -> None:
        super().__init__(folder)
        self._levers = levers

    def _write(self, path: Path, content: bytes) -> None:  # type: ignore[override]
        if self._levers.store_is_full:
            self._levers.note_refusal()
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), str(path))
        super()._write(path, content)
