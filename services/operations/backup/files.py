"""Copies files that never change under their name: what is there already is not copied again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from services.core.errors import Permanent


class BlobWasDamaged(Permanent):
    """A blob does not have the content that its name says; the copy stopped there."""


def copy_blobs(source: Path, target: Path) -> int:
    """Copy every blob of a folder into another, each checked against its name; how many there are in all."""
    count = 0
    for path in sorted(source.glob("??/??/*")):
        to = target / path.relative_to(source)
        if not to.exists():
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() != path.name:
                raise BlobWasDamaged(f"{path} is not what it was: its SHA-256 is not its name")
            write_synced(to, content)
        count += 1
    return count


def write_synced(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, and outlives a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.part")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
