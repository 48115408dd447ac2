"""Bodies and attachments by reference: content-addressed bytes, in a folder (or, `object_blobs`, in an object store).

A blob's name is the sha256 of its content, so storing twice is storing once, and a reader can tell a
damaged file. A file appears whole or not at all (written aside, synced, renamed).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from services.core.errors import BlobsAway, Permanent


class BlobStore(Protocol):
    """Where blobs are kept. Errors that may pass are `BlobsAway`."""

    async def put(self, content: bytes) -> str:
        """Store `content`; its sha256 in hex. Returns only when it is safe."""

    async def get(self, sha256: str) -> bytes:
        """The content with this hash. Raises `BlobMissing` or `BlobDamaged`."""

    async def delete(self, sha256: str) -> None:
        """Remove what has this hash; nothing may refer to it any more."""

    def lying(self) -> AsyncIterator[tuple[str, bytes]]:
        """Every file of the store, whatever its name, as it lies."""


class BlobMissing(Permanent):
    """The blob is not in the store."""


class BlobDamaged(Permanent):
    """The blob's content no longer has the hash that names it."""


class BlobStoreFull(BlobsAway):
    """The blob store has no room, or cannot be written to."""


class Blobs:
    """A folder of blobs, two levels deep by the first bytes of the hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, content: bytes) -> str:
        """Store `content`; its sha256 in hex. Returns only when it is on disk."""
        return await asyncio.to_thread(self._put, content)

    async def get(self, sha256: str) -> bytes:
        """The content with this hash. Raises `BlobMissing` or `BlobDamaged`."""
        return await asyncio.to_thread(self._get, sha256)

    async def delete(self, sha256: str) -> None:
        """Remove what has this hash."""
        await asyncio.to_thread(self.path(sha256).unlink, missing_ok=True)

    async def lying(self) -> AsyncIterator[tuple[str, bytes]]:
        """Every file below the folder, one that was being written included."""
        for path in await asyncio.to_thread(lambda: sorted(one for one in self._folder.rglob("*") if one.is_file())):
            with suppress(FileNotFoundError):  # it has its name by now, or was deleted
                yield str(path.relative_to(self._folder)), await asyncio.to_thread(path.read_bytes)

    def path(self, sha256: str) -> Path:
        """Where the blob is, or would be."""
        return self._folder / sha256[:2] / sha256[2:4] / sha256

    def _put(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.path(sha256)
        if not path.exists():
            try:
                self._write(path, content)
            except OSError as error:
                raise BlobStoreFull(
                    f"cannot store a blob of {len(content)} bytes below {self._folder}: {error}"
                ) from error
        return sha256

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as aside:
            try:
                aside.write(content)
                aside.flush()
                os.fsync(aside.fileno())
                Path(aside.name).rename(path)
            except BaseException:
                Path(aside.name).unlink(missing_ok=True)
                raise
        _sync_folder(path.parent)

    def _get(self, sha256: str) -> bytes:
        try:
            content = self.path(sha256).read_bytes()
        except FileNotFoundError:
            raise BlobMissing(f"blob {sha256} is not below {self._folder}") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise BlobDamaged(f"blob {sha256} below {self._folder} does not have the content it had")
        return content


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
