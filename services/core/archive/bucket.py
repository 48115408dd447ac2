"""Archived events in an object store that speaks S3. An object appears whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO, cast

import obstore
from obstore.exceptions import BaseError, NotFoundError

from services.core.archive.places import ArchiveMissing
from services.core.object_blobs import ObjectStoreAway, open_bucket
from services.core.settings import S3Access


class Bucket:
    """A place at `s3://BUCKET/PREFIX`."""

    def __init__(self, url: str, access: S3Access) -> None:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        self._url = url
        self._bucket = open_bucket(bucket, access, prefix=prefix.strip("/"))

    def keep(self, name: str, content: Path) -> None:
        """Store a copy of a local file. Raises `ObjectStoreAway`."""
        try:
            obstore.put(self._bucket, name, content)
        except (BaseError, OSError) as error:
            raise ObjectStoreAway(f"{name} was not stored at {self._url}: {error}") from error

    def names(self) -> list[str]:
        """Every object at the place. Raises `ObjectStoreAway`."""
        try:
            return sorted(one["path"] for some in obstore.list(self._bucket) for one in some)
        except (BaseError, OSError) as error:
            raise ObjectStoreAway(f"what lies at {self._url} was not listed: {error}") from error

    def open(self, name: str) -> BinaryIO:
        """A local copy, gone when it is closed. Raises `ArchiveMissing` or `ObjectStoreAway`."""
        aside = tempfile.TemporaryFile(prefix="archive-")  # noqa: SIM115 - whoever reads closes it
        try:
            for chunk in obstore.get(self._bucket, name).stream():
                aside.write(chunk)
        except (NotFoundError, FileNotFoundError):
            aside.close()
            raise ArchiveMissing(f"{name} is not at {self._url}") from None
        except (BaseError, OSError) as error:
            aside.close()
            raise ObjectStoreAway(f"{name} was not given by {self._url}: {error}") from error
        aside.seek(0)
        return cast(BinaryIO, aside)

    def remove(self, name: str) -> None:
        """Take the file away; one that is not there is no error. Raises `ObjectStoreAway`."""
        try:
            obstore.delete(self._bucket, name)
        except (NotFoundError, FileNotFoundError):
            return
        except (BaseError, OSError) as error:
            raise ObjectStoreAway(f"{name} was not removed at {self._url}: {error}") from error
