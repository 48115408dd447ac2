"""Where archived events lie: the port, and the one for a folder.

A file appears whole or not at all, under a name that is never used for another content that counts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO, Protocol

from services.core.errors import Permanent


class ArchiveMissing(Permanent):
    """A file of archived events is not where the settings say."""


class Place(Protocol):
    """Keeps files and gives them back."""

    def keep(self, name: str, content: Path) -> None:
        """Store a copy of a local file under this name; returns when it will outlive a crash."""
        ...

    def open(self, name: str) -> BinaryIO:
        """The file from its beginning. Raises `ArchiveMissing`."""
        ...

    def remove(self, name: str) -> None:
        """Take the file away; one that is not there is no error."""
        ...

    def names(self) -> list[str]:
        """Every file that lies there, those that count and those that do not."""
        ...


class Folder:
    """A place on disk, made when the first file comes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, name: str, content: Path) -> None:
        """Copy aside, sync, rename, sync the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.path, prefix=".", delete=False) as aside:
            try:
                with content.open("rb") as source:
                    shutil.copyfileobj(source, aside)
                aside.flush()
                os.fsync(aside.fileno())
                Path(aside.name).rename(self.path / name)
            except BaseException:
                Path(aside.name).unlink(missing_ok=True)
                raise
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def names(self) -> list[str]:
        """Every file in the folder."""
        return sorted(str(one.relative_to(self.path)) for one in self.path.rglob("*") if one.is_file())

    def open(self, name: str) -> BinaryIO:
        """The file from its beginning. Raises `ArchiveMissing`."""
        try:
            return (self.path / name).open("rb")
        except FileNotFoundError:
            raise ArchiveMissing(f"{name} is not in {self.path}; archive.url says where archived events lie") from None

    def remove(self, name: str) -> None:
        """Take the file away; one that is not there is no error."""
        (self.path / name).unlink(missing_ok=True)
