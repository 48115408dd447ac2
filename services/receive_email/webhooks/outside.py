"""The network as formats see it: HTTPS, short, without redirects, small answers only; and objects of S3 buckets."""

from __future__ import annotations

import httpx

from services.core.blobs import BlobMissing
from services.core.errors import Temporary
from services.core.object_blobs import open_bucket, read_object
from services.core.settings import S3Access

TIMEOUT_S = 5.0
MOST_BYTES = 64 * 1024
MOST_KEPT = 16


class OutsideAway(Temporary):
    """A provider's server did not give what we asked it for."""


class HttpsOutside:
    """`Outside` over httpx. What is `kept` is asked for once while the process lives."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._kept: dict[str, bytes] = {}

    async def get(self, url: str) -> bytes:
        """The body behind a URL. Raises `OutsideAway`."""
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_S, transport=self._transport) as client:
                answer = await client.get(url)
        except httpx.HTTPError as error:
            raise OutsideAway(f"no answer from {httpx.URL(url).host}: {error!r}") from error
        if answer.status_code != httpx.codes.OK or len(answer.content) > MOST_BYTES:
            raise OutsideAway(f"{httpx.URL(url).host} answered {answer.status_code}, {len(answer.content)} bytes")
        return answer.content

    async def kept(self, url: str) -> bytes:
        """The body behind a URL whose content never changes; the oldest makes room."""
        if url not in self._kept:
            content = await self.get(url)
            if len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[url] = content
        return self._kept[url]

    async def stored(self, bucket: str, key: str, access: S3Access, most: int) -> bytes | None:
        """An object of a bucket, or None where it is larger than `most` bytes. Raises `OutsideAway`."""
        try:
            return await read_object(open_bucket(bucket, access), key, most=most)
        except BlobMissing as error:
            raise OutsideAway(f"{error} in the bucket {bucket}") from None
