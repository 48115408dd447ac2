"""What a backup says of itself, in `manifest.json`; a folder without it is no backup, but one that was cut short."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from services.core.errors import Permanent

NAME = "manifest.json"


class NoBackup(Permanent):
    """The folder holds no finished backup."""


class Manifest(BaseModel):
    """`hashes` are those of the state, by table; `archives` the files of archived events that belong to it.

    `archived_until` is when the newest event in them was stored.
    """

    model_config = ConfigDict(frozen=True)

    taken_at: datetime
    code_version: str
    workspace: str
    events: int
    last_seq: int
    hashes: dict[str, str]
    archives: tuple[str, ...]
    blobs: int | None
    archived_until: datetime | None = None


def read(folder: Path) -> Manifest:
    """The manifest of the backup in a folder. Raises `NoBackup`."""
    try:
        return Manifest.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValidationError) as error:
        raise NoBackup(f"{folder} holds no finished backup: {error}") from None


def newest(folder: Path) -> Path:
    """The folder itself where it is a backup, else the newest one in it. Raises `NoBackup`."""
    if (folder / NAME).exists():
        return folder
    found = sorted(path.parent for path in folder.glob(f"*/{NAME}"))
    if not found:
        raise NoBackup(f"there is no finished backup in {folder}")
    return found[-1]
