"""Where an export goes: a folder, or a zip in memory. Each is a function that takes a file's name and its bytes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from services.core.errors import Permanent

Add = Callable[[str, bytes], None]


class FolderNotEmpty(Permanent):
    """The folder holds something already."""


class TooMuch(Permanent):
    """More is held than fits into one answer."""


def new_folder(to: Path) -> Add:
    """Files below a folder that is empty, or not there yet. Raises `FolderNotEmpty`."""
    if to.exists() and any(to.iterdir()):
        raise FolderNotEmpty(f"{to} is not empty; name a new folder")
    to.mkdir(parents=True, exist_ok=True)

    def add(name: str, content: bytes) -> None:
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return add


class Zipped:
    """A zip of files, of at most so many bytes unpacked. It is in memory alone: what somebody wrote touches no disk."""

    def __init__(self, most_bytes: int) -> None:
        self._left, self._buffer = most_bytes, BytesIO()
        self._zip = ZipFile(self._buffer, "w", ZIP_DEFLATED)

    def add(self, name: str, content: bytes) -> None:
        """One file. Raises `TooMuch`."""
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch("more is held than fits into a download; `correspondent export` writes it into a folder")
        self._zip.writestr(name, content)

    def content(self) -> bytes:
        """The zip, which takes no more files."""
        self._zip.close()
        return self._buffer.getvalue()
