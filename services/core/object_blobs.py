"""Blobs in an object store that speaks S3: Amazon's own, or any that is compatible.

Keys are as in a folder of blobs: two levels by the first bytes of the hash. Who we are is looked for where AWS's own
tools look: the settings, the environment (`AWS_ACCESS_KEY_ID`), then the machine's role.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from services.core.blobs import BlobDamaged, BlobMissing
from services.core.errors import BlobsAway
from services.core.settings import BlobSettings, S3Access

TIMEOUT_S = 30
RETRIES = 3


class ObjectStoreAway(BlobsAway):
    """The object store did not do what it was asked for."""


def open_bucket(bucket: str, access: S3Access, *, prefix: str = "") -> S3Store:
    """A bucket; nothing is asked of it yet."""
    secret = access.secret_access_key.get_secret_value()
    given: dict[str, Any] = {
        "endpoint": access.endpoint,
        "region": access.region,
        "access_key_id": access.access_key_id,
        "secret_access_key": secret,
    }
    retry: Any = {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=TIMEOUT_S)}
    client: Any = {"timeout": f"{TIMEOUT_S}s", "allow_http": access.endpoint.startswith("http://")}
    named = {name: value for name, value in given.items() if value}
    return S3Store(bucket, prefix=prefix or None, client_options=client, retry_config=retry, **named)


async def read_object(bucket: S3Store, key: str, *, most: int | None = None) -> bytes | None:
    """The content under a key; None where it is larger than `most` bytes. Raises `BlobMissing`, `ObjectStoreAway`."""
    try:
        found = await obstore.get_async(bucket, key)
        if most is not None and found.meta["size"] > most:
            return None
        return bytes(await found.bytes_async())
    except (NotFoundError, FileNotFoundError):
        raise BlobMissing(f"there is no object {key}") from None
    except (BaseError, OSError) as error:
        raise ObjectStoreAway(f"the object {key} was not given: {_first_line(error)}") from error


async def lying_in(bucket: S3Store) -> AsyncIterator[tuple[str, bytes]]:
    """Every object below a bucket's prefix, with its key there. Raises `ObjectStoreAway`."""
    try:
        async for some in obstore.list(bucket):
            for one in some:
                with suppress(BlobMissing):  # deleted since it was listed
                    yield one["path"], await read_object(bucket, one["path"]) or b""
    except (BaseError, OSError) as error:
        raise ObjectStoreAway(f"the objects were not listed: {_first_line(error)}") from error


class ObjectBlobs:
    """Blobs in `s3://BUCKET/PREFIX`."""

    def __init__(self, settings: BlobSettings) -> None:
        bucket, _, prefix = settings.url.removeprefix("s3://").partition("/")
        self._url = settings.url
        self._bucket = open_bucket(bucket, settings, prefix=prefix.strip("/"))

    async def put(self, content: bytes) -> str:
        """Store `content`; its sha256 in hex. Returns only when the store has it. Raises `ObjectStoreAway`."""
        sha256 = hashlib.sha256(content).hexdigest()
        try:
            await obstore.put_async(self._bucket, _key(sha256), content)
        except (BaseError, OSError) as error:
            raise ObjectStoreAway(f"a blob was not stored at {self._url}: {_first_line(error)}") from error
        return sha256

    async def get(self, sha256: str) -> bytes:
        """The content with this hash. Raises `BlobMissing`, `BlobDamaged` or `ObjectStoreAway`."""
        try:
            content = await read_object(self._bucket, _key(sha256))
        except BlobMissing:
            raise BlobMissing(f"blob {sha256} is not at {self._url}") from None
        if content is None or hashlib.sha256(content).hexdigest() != sha256:
            raise BlobDamaged(f"blob {sha256} at {self._url} does not have the content it had")
        return content

    def lying(self) -> AsyncIterator[tuple[str, bytes]]:
        """Every object below the prefix, whatever its key. Raises `ObjectStoreAway`."""
        return lying_in(self._bucket)

    async def delete(self, sha256: str) -> None:
        """Remove what has this hash. Raises `ObjectStoreAway`."""
        try:
            await obstore.delete_async(self._bucket, _key(sha256))
        except (NotFoundError, FileNotFoundError):
            return
        except (BaseError, OSError) as error:
            raise ObjectStoreAway(f"a blob was not removed at {self._url}: {_first_line(error)}") from error


def _key(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]
