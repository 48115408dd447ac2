"""Blobs: named by their content, whole or not there, and never silently wrong."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from services.core.blobs import BlobDamaged, BlobMissing, Blobs, BlobStoreFull
from services.core.errors import Permanent, Temporary


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def files(blobs: Blobs) -> list[Path]:
    return [path for path in blobs.path("0" * 64).parents[2].rglob("*") if path.is_file()]


@pytest.mark.parametrize("content", [b"", b"mail", bytes(range(256)) * 4096])
async def test_what_is_put_can_be_got(blobs: Blobs, content: bytes) -> None:
    """A blob's name is the sha256 of its bytes, which come back unchanged."""
    name = await blobs.put(content)
    assert name == hashlib.sha256(content).hexdigest()
    assert await blobs.get(name) == content


async def test_putting_twice_is_putting_once(blobs: Blobs) -> None:
    """The same content is stored once, and not written again."""
    name = await blobs.put(b"mail")
    before = blobs.path(name).stat().st_mtime_ns
    assert await blobs.put(b"mail") == name
    assert blobs.path(name).stat().st_mtime_ns == before
    assert len(files(blobs)) == 1


async def test_many_at_once_leave_each_blob_whole(blobs: Blobs) -> None:
    """Concurrent writers of the same and of other contents end with one whole file each, and nothing beside."""
    contents = [str(number % 5).encode() * 50_000 for number in range(40)]
    names = await asyncio.gather(*(blobs.put(content) for content in contents))
    for name, content in zip(names, contents, strict=True):
        assert await blobs.get(name) == content
    assert len(files(blobs)) == 5


async def test_a_missing_blob_is_said(blobs: Blobs) -> None:
    """A name that nothing stands under is permanent: asking again finds nothing either."""
    with pytest.raises(BlobMissing, match=r"0{64} is not below"):
        await blobs.get("0" * 64)
    assert issubclass(BlobMissing, Permanent)


@pytest.mark.parametrize("damage", [b"", b"mai", b"Mail", b"mail\n"])
async def test_a_damaged_blob_is_not_handed_out(blobs: Blobs, damage: bytes) -> None:
    """A file that no longer has its hash is said to be damaged, never read as if it were the mail."""
    name = await blobs.put(b"mail")
    blobs.path(name).write_bytes(damage)
    with pytest.raises(BlobDamaged):
        await blobs.get(name)


async def test_a_full_disk_is_temporary_and_leaves_nothing(blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room the caller may try again, and no half-written file stays."""

    def full(_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BlobStoreFull, match=r"4 bytes .* No space left"):
            await blobs.put(b"mail")
    assert files(blobs) == []
    assert issubclass(BlobStoreFull, Temporary)
    assert await blobs.get(await blobs.put(b"mail")) == b"mail"


async def test_a_folder_that_is_none_is_temporary(tmp_path: Path) -> None:
    """A store that cannot be written to is said with its place."""
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(BlobStoreFull):
        await Blobs(tmp_path / "blobs").put(b"mail")
