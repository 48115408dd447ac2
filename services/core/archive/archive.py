"""The places of a deployment's archived events: a folder by its path or as `file:///path`, or `s3://BUCKET/PREFIX`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from services.core.archive.places import Folder, Place
from services.core.errors import Permanent
from services.core.settings import S3Access, Settings


class ArchivePlaceWrong(Permanent):
    """The URL names no place where archived events can lie."""


@dataclass(frozen=True, slots=True)
class Archive:
    """`url` is the place of the settings; a single file may lie elsewhere. `access` is for buckets."""

    url: str
    access: S3Access = field(default_factory=S3Access)

    def at(self, elsewhere: str = "") -> Place:
        """The place of the settings, or another one. Raises `ArchivePlaceWrong`."""
        url = elsewhere or self.url
        parts = urlsplit(url)
        if parts.scheme == "s3" and parts.netloc:
            from services.core.archive.bucket import Bucket

            return Bucket(url, self.access)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return Folder(Path(unquote(parts.path)))
        if "://" not in url:
            return Folder(Path(url))
        raise ArchivePlaceWrong(f"{url!r} is neither a folder, file:///path, nor s3://BUCKET/PREFIX")

    def open(self, name: str, elsewhere: str = "") -> BinaryIO:
        """A file from its beginning. Raises `ArchiveMissing`."""
        return self.at(elsewhere).open(name)


def archive_of(settings: Settings) -> Archive:
    """The archive of the deployment of these settings."""
    return Archive(settings.archive.url or str(settings.home / "archive"), settings.blobs)
